"""A toy language, whose program is several texts: ``resources: {name: expression}``.

An expression is pairs ``key=value`` with blanks between them: the data of one ConfigMap. A value
that begins with a dollar sign is the path of a field of the request. Tests put this folder into a
copy of the package, where it is the fourth language.
"""
