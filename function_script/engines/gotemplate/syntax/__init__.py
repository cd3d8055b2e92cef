"""The syntax of Go templates: text to tokens to nodes. It knows nothing of values or running."""
