"""Build, read, push and inspect Crossplane packages (xpkg) without Docker.

A package is a container image whose base layer holds package.yaml. As a file it has the format of
`docker save`, which Crossplane's tools push.
"""
