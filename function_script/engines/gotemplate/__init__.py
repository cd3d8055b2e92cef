"""The GoTemplate language: Go's text/template with sprig, compiled to Python functions."""
