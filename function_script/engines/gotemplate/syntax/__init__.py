"""The syntax of Go templates: text to tokens to nodes. Knows nothing of values or running."""
