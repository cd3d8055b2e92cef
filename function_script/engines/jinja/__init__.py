"""JinjaTemplate: a YAML stream, rendered in a hardened Jinja.

Imports nothing, so that reading the descriptor in ``language`` is cheap.
"""
