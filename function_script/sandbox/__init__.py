"""Runs programs in warm worker processes, which can be killed without harm to other requests.

    pool ──spawns──> zygote ──forks──> worker, worker …
      └───── requests out, replies back ─────┘

The server and the local tools use ``Pool``, which passes bytes to ``function.handle`` in a worker
and bytes back, and explains lost workers. Nothing in here knows gRPC, Crossplane or a language.

In the server's process: ``pool`` (configuration, the blocking front), ``dispatcher`` (the asyncio
front), ``batch`` (runs, and the batch of a worker), ``scheduler`` (slots and queues), ``history``
(its estimates), ``execution`` (polls and replies), ``idle_workers``, ``worker_process`` and
``fork_server`` (a worker and the zygote, seen from here), ``capacity`` (how many), ``outcome``
(results and errors), ``threads``.

In the zygote and the workers: ``zygote``, ``worker``, ``rlimits``, ``seccomp``.

In both: ``ipc``, ``shared_memory``, ``report``, ``confinement``, ``zygote_config``,
``spawn_errors``. ``spawn`` starts interpreters, also that of the ``fetcher`` of remote programs.

``plain`` and ``plain_worker`` replace the zygote on other systems than Linux; ``system`` chooses.
"""
