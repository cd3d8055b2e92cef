"""GoTemplate: Go's text/template with sprig, compiled to Python functions.

Imports nothing, so that reading the descriptor in ``language`` is cheap.
"""
