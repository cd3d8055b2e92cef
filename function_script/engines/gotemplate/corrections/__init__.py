"""Corrections of templates in the syntax, or with the order of arguments, of another language."""
