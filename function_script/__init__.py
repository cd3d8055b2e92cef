"""A Crossplane composition function with its logic inline: Starlark, Jinja, Go templates."""

from function_script.texts import release

__version__ = release.VERSION
