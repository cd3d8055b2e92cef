"""The compiler: syntax nodes to Python source."""
