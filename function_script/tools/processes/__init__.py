"""Run the functions of packages as processes, without a container runtime.

    functions ──> packages ──> cache, unpacking      (resolve, fetch, unpack)
        └──> server ──spawns──> supervisor ──forks──> the image's entrypoint
               └── gRPC ──> relay in the supervisor ──> port 9443 ──┘

In the command's process: ``functions`` (the functions of one command), ``packages`` (a package's
image), ``cache`` (images on disk), ``unpacking`` (layers), ``server`` (one function).

In the supervisor's process, which imports nothing but the standard library and these:
``supervisor``, ``namespaces``, ``confinement``, ``relay``, ``log``.
"""
