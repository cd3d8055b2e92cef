"""What tests need Linux for, reviewed one by one; elsewhere these files are not collected.

Everything else runs wherever the tools run. Single tests in other files have the mark ``linux``.
"""

from __future__ import annotations

from typing import Final

SERVER: Final = "the server, which runs on Linux alone"
FORKS: Final = "the pool of the server: its zygote, its scheduling, /proc"

FILES: Final = {
    "benchmarks/test_judged.py": SERVER,
    "benchmarks/test_soak.py": SERVER,
    "conformance/test_channel_args.py": SERVER,
    "conformance/test_install.py": SERVER,
    "conformance/test_operating_reference.py": SERVER,
    "e2e/test_serve.py": SERVER,
    "e2e/test_serve_addresses.py": SERVER,
    "e2e/test_serve_capture.py": SERVER,
    "e2e/test_serve_clock.py": SERVER,
    "e2e/test_serve_fairness.py": SERVER,
    "e2e/test_serve_faults.py": SERVER,
    "e2e/test_serve_load.py": SERVER,
    "e2e/test_serve_operating.py": SERVER,
    "e2e/test_serve_replicas.py": SERVER,
    "e2e/test_serve_secrets.py": SERVER,
    "e2e/test_serve_tls.py": SERVER,
    "hostile/test_leaks.py": FORKS,
    "hostile/test_pool_faults.py": FORKS,
    "hostile/test_served_bombs.py": SERVER,
    "hostile/test_served_clients.py": SERVER,
    "hostile/test_served_floods.py": SERVER,
    "property/test_any_request.py": SERVER,
    "unit/test_sandbox_switchboard.py": FORKS,
    "unit/test_server_answering.py": SERVER,
    "unit/test_server_admission.py": SERVER,
    "unit/test_server_certificates.py": SERVER,
    "unit/test_server_grpc.py": SERVER,
    "unit/test_server_log.py": SERVER,
    "unit/test_server_log_writer.py": SERVER,
    "unit/test_server_metrics.py": SERVER,
    "unit/test_server_ops.py": SERVER,
    "unit/test_server_ops_http.py": SERVER,
    "unit/test_server_recording.py": SERVER,
    "unit/test_server_rehearsal.py": SERVER,
    "unit/test_server_tracing.py": SERVER,
}
