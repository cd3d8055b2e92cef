"""Fetch programs and modules from registries and git repositories.

A server runs this package in a process of its own (``process``); the author's commands call it.
"""
