"""Go's printf: formats, verbs, floats."""
