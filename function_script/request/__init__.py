"""A request, what it names and asks for, and the values in it."""
