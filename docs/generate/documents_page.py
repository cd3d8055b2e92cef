"""The tables of `docs/reference/documents.md`: annotations and meta kinds."""

from typing import Final

from function_script.contribution import dialects

BEGIN: Final = "<!-- Written by `make goldens`. -->\n"
END: Final = "<!-- End of what is written. -->\n"


def section() -> str:
    """Return the section, from BEGIN to END."""
    annotations = "".join(
        f"| `{each.name}` | {each.values} | {each.meaning} |\n" for each in dialects.ANNOTATIONS
    )
    kinds = "".join(
        f"| `{each.kind}` | {each.fields} | {each.response_field} |\n"
        for each in dialects.META_KINDS
    )
    return (
        f"{BEGIN}\n| annotation (prefix `{dialects.PREFIX}/`) | values | meaning |\n|---|---|---|\n"
        f"{annotations}\n"
        "The function removes these annotations from the resource. Any other annotation with this "
        "prefix, or with that of function-go-templating, is an error.\n\n"
        "| meta kind | fields | the same in a script's response |\n|---|---|---|\n"
        f"{kinds}\n{END}"
    )
