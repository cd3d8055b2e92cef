"""Analyse Starlark programs without running them."""
