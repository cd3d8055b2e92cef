"""Run the functions of packages as processes, without a container runtime.

    cache ──> fetching ──> unpacking
    server ──spawns──> supervisor ──forks──> the image's entrypoint
       └──── gRPC ───> relay in the supervisor ──> port 9443 ──┘

In the command's process: ``cache`` (the image of a package, on disk), ``fetching`` (from a
registry), ``unpacking`` (layers), ``server`` (one function), ``probe`` (the system), ``options``.

In the supervisor's process, which imports the standard library and nothing else, for a fast start:
``supervisor``, ``confinement``, ``relay``. In both: ``messages``.

Linux alone has what all of this needs. No module of it is imported elsewhere.
"""
