"""Functions of Go and of function-go-templating; those of sprig are in the package sprig."""
