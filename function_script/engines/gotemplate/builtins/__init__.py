"""The functions of Go itself and those of function-go-templating; sprig is a package of its own."""
