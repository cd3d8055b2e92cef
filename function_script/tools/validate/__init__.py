"""Validation of resources and of steps' inputs against their schemas, like the official command."""
