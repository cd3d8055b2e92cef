"""StarlarkScript: a script's ``main(req)`` gets the request and returns a response.

Imports nothing, so that reading the descriptor in ``language`` is cheap.
"""
