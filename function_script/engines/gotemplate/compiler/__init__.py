"""Nodes to Python source: expressions, statements, and the code they add to."""
