"""Write the image's bill of materials, CycloneDX in JSON, to standard output.

Called by the Dockerfile, where both tools are: cyclonedx-py lists the Python packages, debsbom
Debian's. The same image gives the same bytes; SOURCE_DATE_EPOCH sets the time, else there is none.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

TOOLS = Path(sys.executable).parent
VERSION = "1.6"
ROOT = "function-script"
# debsbom writes a random number and the time, unless it gets both.
NO_NUMBER = "00000000-0000-4000-8000-000000000000"
NO_TIME = "1970-01-01T00:00:00Z"
INSTALLED = "Status: install ok installed\n"
ARCHITECTURE = re.compile(r"^Architecture: (\S+)$", re.MULTILINE)


def main() -> None:
    """Write the bill to standard output."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--environment", type=Path, required=True, help="the virtual environment")
    parser.add_argument("--report", type=Path, required=True, help="pip's report of its packages")
    parser.add_argument("--base", type=Path, required=True, help="the files of the base image")
    parser.add_argument("--prefix", required=True, help="Python's prefix in the base image")
    flags = parser.parse_args()
    bill = list_python(flags.environment, read_hashes(flags.report))
    add(bill, list_interpreter(flags.base / flags.prefix.lstrip("/")))
    add(bill, list_debian(flags.base))
    check(bill)
    json.dump(bill, sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")


def list_python(environment: Path, hashes: dict[str, str]) -> dict[str, object]:
    """List the packages of a virtual environment, each with the hash of its archive."""
    command = ["cyclonedx-py", "environment", "--output-reproducible", "--spec-version", VERSION]
    bill = json.loads(run(*command, str(environment)))
    own = [item for item in bill["components"] if item["name"] == ROOT]
    bill["components"] = [item for item in bill["components"] if item["name"] != ROOT]
    for item in own:
        # Its reference is a path of the build.
        item.pop("externalReferences", None)
        bill["metadata"]["component"] = {**item, "type": "application"}
    for item in bill["components"]:
        archive = hashes.get(normalize(item["name"]))
        if archive is not None:
            item["hashes"] = [{"alg": "SHA-256", "content": archive}]
    return bill


def read_hashes(report: Path) -> dict[str, str]:
    """Read the SHA-256 of the archives that pip installed, by name."""
    entries = json.loads(report.read_text())["install"]
    return {
        normalize(entry["metadata"]["name"]): entry["download_info"]["archive_info"]["hashes"][
            "sha256"
        ]
        for entry in entries
    }


def normalize(name: str) -> str:
    """Spell a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def list_interpreter(prefix: Path) -> dict[str, object]:
    """List Python where it was compiled into the image, so that no package manager has it."""
    if prefix.name != "local":
        return {}
    (header,) = prefix.glob("include/python3.*/patchlevel.h")
    version = re.search(r'PY_VERSION\s+"([^"]+)"', header.read_text())
    if version is None:
        sys.exit(f"cannot read the version of Python: {header} has no PY_VERSION")
    name = f"pkg:generic/python@{version[1]}"
    python = {"type": "application", "name": "python", "version": version[1]}
    return {"components": [{**python, "bom-ref": name, "purl": name}]}


def list_debian(base: Path) -> dict[str, object]:
    """List Debian's packages; none where the base has no list of them."""
    listing = base / "var/lib/dpkg/status"
    parts = sorted(path for path in base.glob("var/lib/dpkg/status.d/*") if not path.suffix)
    if listing.exists():
        text = listing.read_text()
    elif parts:
        # Images without a package manager have a file for each package.
        stanzas = [path.read_text().strip() for path in parts]
        text = "".join(f"{INSTALLED if 'Status:' not in s else ''}{s}\n\n" for s in stanzas)
    else:
        return {}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "var/lib/dpkg").mkdir(parents=True)
        (root / "var/lib/dpkg/status").write_text(text)
        architecture = next(n for n in ARCHITECTURE.findall(text) if n != "all")
        fixed = ("--timestamp", NO_TIME, "--cdx-serialnumber", NO_NUMBER)
        run(
            *("debsbom", "generate", "--sbom-type", "cdx", "--cdx-schema-version", VERSION),
            *("--distro-arch", architecture, *fixed),
            *("--root", name, "--out", str(root / "debian")),
        )
        bill = json.loads((root / "debian.cdx.json").read_text())
    tools = bill["metadata"]["tools"]["components"]
    own = bill["metadata"]["component"]["bom-ref"]
    dependencies = [entry for entry in bill["dependencies"] if entry["ref"] != own]
    return {"components": bill["components"], "dependencies": dependencies, "tools": tools}


def add(bill: dict[str, object], other: dict[str, object]) -> None:
    """Add what another bill lists."""
    for key in ("components", "dependencies"):
        bill[key] = sorted([*bill[key], *other.get(key, [])], key=reference)
    tools = bill["metadata"]["tools"]
    tools["components"] = sorted([*tools["components"], *other.get("tools", [])], key=reference)


def reference(item: dict[str, object]) -> tuple[str, str]:
    """Give the order of entries: by reference, or by name where there is none."""
    return str(item.get("bom-ref") or item.get("ref") or ""), str(item.get("name"))


def check(bill: dict[str, object]) -> None:
    """Exit with a line when the bill does not follow its schema."""
    error = JsonStrictValidator(SchemaVersion.from_version(VERSION)).validate_str(json.dumps(bill))
    if error is not None:
        sys.exit(f"cannot write the bill of materials: {error}")


def run(name: str, *arguments: str) -> str:
    """Run one of the tools beside this Python and return its output; its error ends this, too."""
    return subprocess.run(  # noqa: S603 - the Dockerfile installs both
        [TOOLS / name, *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    main()
