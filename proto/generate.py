"""Generate function_script/proto from the .proto files here: ``make proto``.

protoc names modules after the .proto's own path, which has to be Crossplane's for reflection and
shared registries; so the stubs are made aside and moved to a package of ours.
"""

# ruff: noqa: INP001 - a script, not a package
from __future__ import annotations

import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "function_script" / "proto"
# Where each file's stubs go, below the package.
SOURCES = {
    "apiextensions/fn/proto/v1/run_function.proto": "v1",
    "apiextensions/fn/proto/v1beta1/run_function.proto": "v1beta1",
    "render/v1alpha1/render.proto": "render",
}


def generate(target: Path) -> None:
    """Write the stubs, such as ``v1/run_function_pb2.py`` and ``.pyi``, below ``target``."""
    well_known = resources.files("grpc_tools") / "_proto"
    for source, package in SOURCES.items():
        with tempfile.TemporaryDirectory() as made:
            arguments = [f"-I{HERE}", f"-I{well_known}", f"--python_out={made}"]
            if protoc.main(["protoc", *arguments, f"--pyi_out={made}", source]) != 0:
                sys.exit(f"cannot generate stubs from {source}")
            (target / package).mkdir(parents=True, exist_ok=True)
            for stub in Path(made, source).parent.iterdir():
                shutil.copy(stub, target / package / stub.name)


if __name__ == "__main__":
    generate(PACKAGE)
