"""Texts: their places, what is wrong in them, and words."""
