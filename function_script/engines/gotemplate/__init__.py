"""GoTemplate: Go's text/template with sprig, compiled to trees of operations.

Imports nothing, so that reading the descriptor in ``language`` is cheap.
"""
