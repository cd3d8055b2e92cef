"""A toy language: lines ``key: value``, copied to the data of one ConfigMap.

A value that begins with a dollar sign is the path of a field of the request. Tests put this folder
into a copy of the package, where it is the fourth language.
"""
