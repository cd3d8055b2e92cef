"""Programs and modules in registries and git repositories.

A reference names content by a digest or a commit. The fetcher, a process of its own
(``tools/remote``), fetches it; the texts are attached to the bytes of a request, because a worker
has neither a network nor files.
"""
