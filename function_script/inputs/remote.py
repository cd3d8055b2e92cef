"""Programs in a registry or a repository: planned, and refused with a hint."""

from typing import Final

from function_script.reader import ObjectReader

SOURCE: Final = "Remote"
FIELD: Final = "remote"
_HINT: Final = (
    f"planned is `source: {SOURCE}` with `{FIELD}: {{oci: {{ref: HOST/REPO@sha256:…, path: …}}}}` "
    f"or `{FIELD}: {{git: {{url: …, commit: …, path: …}}}}`; today write the program into the "
    "input (`source: Inline`), or have it in a directory of the function (`source: FileSystem`)"
)


def refuse(fields: ObjectReader) -> bool:
    """Add a problem if an input has a remote program; report whether it has."""
    is_source = fields.value.get("source") == SOURCE
    if not is_source and fields.value.get(FIELD) is None:
        return False
    path = fields.at("source" if is_source else FIELD)
    fields.problems.add(
        path,
        "cannot fetch a program: registries and repositories are not supported yet",
        hint=_HINT,
    )
    return True
