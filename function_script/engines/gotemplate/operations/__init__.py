"""The operations of compiled templates: expressions that are evaluated, statements that are run.

An operation never reads an attribute of a template's value: it handles values only through our
functions, so that Python's objects are out of an author's reach.
"""
