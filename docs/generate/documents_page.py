"""The tables of `docs/reference/documents.md`: annotations and meta kinds."""

from function_script.contribution import dialects


def section() -> str:
    """Return the two tables."""
    annotations = "".join(
        f"| `{each.name}` | {each.values} | {each.meaning} |\n" for each in dialects.ANNOTATIONS
    )
    kinds = "".join(
        f"| `{each.kind}` | {each.fields} | {each.response_field} |\n"
        for each in dialects.META_KINDS
    )
    return (
        f"| annotation (prefix `{dialects.PREFIX}/`) | values | meaning |\n|---|---|---|\n"
        f"{annotations}\n"
        "The function removes these annotations from the resource. Any other annotation with this "
        "prefix, or with that of function-go-templating, is an error; in inputs of "
        "function-go-templating, one with its own prefix is a warning.\n\n"
        "| meta kind | fields | the same in a script's response |\n|---|---|---|\n"
        f"{kinds}"
    )
