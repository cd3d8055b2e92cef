"""A Crossplane composition function with its logic inline: Starlark, Jinja, Go templates."""

__version__ = "0.1.0"
