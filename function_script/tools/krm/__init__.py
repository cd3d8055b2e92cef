"""Run a Composition, or a single input, as a KRM function."""
