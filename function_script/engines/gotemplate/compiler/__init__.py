"""The compiler: syntax nodes to operations."""
