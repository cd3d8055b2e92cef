"""What the author of a mistake in the syntax or order of another language means in Go's."""
