"""The ways to run a function."""
