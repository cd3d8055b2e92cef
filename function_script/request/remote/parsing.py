"""Reads the field ``remote`` of an input."""

import re
from typing import Final

from function_script.request.reader import ObjectReader
from function_script.request.remote.reference import RemoteReference

SOURCE: Final = "Remote"
FIELD: Final = "remote"
KEYS: Final = ("oci", "git", "credentials")
_OCI_FORM: Final = "remote: {oci: {ref: HOST/REPOSITORY@sha256:…, path: …}}"
_GIT_FORM: Final = "remote: {git: {url: https://HOST/REPOSITORY, commit: …, path: …}}"
FORMS: Final = f"write `{_OCI_FORM}` or `{_GIT_FORM}`"
_VENDOR: Final = "`function-script vendor` writes the {}"

# The same pattern is in the CRDs.
_HOST: Final = r"(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::[0-9]{1,5})?"
_REPOSITORY: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+|/)[a-z0-9]+)*"
_LOCATION: Final = re.compile(f"{_HOST}/{_REPOSITORY}", re.ASCII)
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_TAG: Final = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SEGMENT: Final = r"[A-Za-z0-9_~][A-Za-z0-9_.~+-]*"
_URL: Final = re.compile(rf"https?://{_HOST}(?:/{_SEGMENT})+/?")
_PATH: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@ +-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.@ +-]*)*")
MAX_CHARACTERS: Final = 1_000


def read(section: ObjectReader) -> RemoteReference | None:
    """Return the reference of a ``remote`` object; None after a problem."""
    transports = [key for key in ("oci", "git") if section.value.get(key) is not None]
    credentials = section.text("credentials") or ""
    if section.value.get("credentials") == "":
        section.problems.add(section.at("credentials"), "must not be empty")
    if len(credentials) > MAX_CHARACTERS:
        section.problems.add(section.at("credentials"), f"must be at most {MAX_CHARACTERS:,}")
    if len(transports) != 1:
        section.problems.add(section.path, "needs exactly one of oci, git", hint=FORMS)
        return None
    holder = section.object(transports[0])
    if holder is None:
        return None
    return (
        _read_oci(holder, credentials) if transports == ["oci"] else _read_git(holder, credentials)
    )


def is_valid(reference: RemoteReference) -> bool:
    """Report whether an input can have this reference; one that a worker reports is untrusted."""
    is_oci = reference.transport == "oci"
    location, version = (_LOCATION, _DIGEST) if is_oci else (_URL, _COMMIT)
    texts = (reference.location, reference.path, reference.credentials)
    return (
        location.fullmatch(reference.location) is not None
        and version.fullmatch(reference.version) is not None
        and (not reference.path or _PATH.fullmatch(reference.path) is not None)
        and all(len(text) <= MAX_CHARACTERS for text in texts)
    )


def refuse_text(fields: ObjectReader) -> bool:
    """Add a problem if ``remote`` is a text, such as a URL; report whether it is."""
    value = fields.value.get(FIELD)
    if not isinstance(value, str):
        return False
    fields.problems.add(
        fields.at(FIELD), "must be an object, not a string", hint=f"write `{form_of(value)}`"
    )
    return True


def form_of(text: str) -> str:
    """Return the object for a URL such as ``git://HOST/OWNER/NAME//lib/net.star?ref=v1``.

    A digest or a commit that the URL does not have is an ellipsis.
    """
    from urllib.parse import parse_qs, urlsplit  # noqa: PLC0415 - seldom needed

    parts = urlsplit(text.removeprefix("git::").removeprefix("git+"))
    host = parts.netloc.rpartition("@")[2]
    whole, _, version = parts.path.partition("@")
    base, double_slash, path = whole.partition("//")
    if not double_slash and ".git/" in base:
        base, _, path = base.partition(".git/")
    end = f", path: {path}}}}}" if path else "}}"
    if parts.scheme == "oci":
        name = re.sub(r":[\w.-]+\Z", "", base)
        digest = version if _DIGEST.fullmatch(version) else "sha256:…"
        return f"remote: {{oci: {{ref: {host}{name}@{digest}{end}"
    revision = version or parts.fragment or parse_qs(parts.query).get("ref", [""])[-1]
    commit = revision if _COMMIT.fullmatch(revision) else "…"
    url = f"https://{host}{base}" if host and base else "https://HOST/REPOSITORY"
    return f"remote: {{git: {{url: {url}, commit: {commit}{end}"


def _read_oci(holder: ObjectReader, credentials: str) -> RemoteReference | None:
    holder.refuse_unknown("ref", "path")
    ref, path = holder.text("ref", required=True), _read_path(holder)
    if not ref or path is None:
        return None
    location, at, digest = ref.removeprefix("oci://").partition("@")
    repository, colon, tag = location.rpartition(":")
    has_tag = bool(colon) and "/" not in tag and _TAG.fullmatch(tag) is not None
    location = repository if has_tag else location
    if not _LOCATION.fullmatch(location) or len(ref) > MAX_CHARACTERS or ref.startswith("oci:"):
        hint = f"write `ref: {ref.removeprefix('oci://')}`" if ref.startswith("oci:") else None
        rule = "must be HOST/REPOSITORY@sha256:DIGEST"
        holder.problems.add(holder.at("ref"), rule, hint=hint)
        return None
    if not _DIGEST.fullmatch(digest):
        rule = "sha256: and 64 hex digits" if at else "for a tag moves"
        problem = f"must have a digest, {rule}"
        holder.problems.add(holder.at("ref"), problem, hint=_VENDOR.format("digest"))
        return None
    return RemoteReference(
        transport="oci", location=location, version=digest, path=path, credentials=credentials
    )


def _read_git(holder: ObjectReader, credentials: str) -> RemoteReference | None:
    holder.refuse_unknown("url", "commit", "path")
    url, path = holder.text("url", required=True), _read_path(holder)
    commit = holder.text("commit", required=True)
    if url and (not _URL.fullmatch(url) or len(url) > MAX_CHARACTERS):
        rule = "must be https://HOST/REPOSITORY, without a user, a query and escapes"
        holder.problems.add(holder.at("url"), rule)
        return None
    if commit and not _COMMIT.fullmatch(commit):
        rule = "must be a whole commit of 40 or 64 hex digits, for a branch or tag moves"
        holder.problems.add(holder.at("commit"), rule, hint=_VENDOR.format("commit"))
        return None
    if not url or not commit or path is None:
        return None
    return RemoteReference(
        transport="git",
        location=url.rstrip("/"),
        version=commit,
        path=path,
        credentials=credentials,
    )


def _read_path(holder: ObjectReader) -> str | None:
    """Return the path; "" for the whole content, None after a problem."""
    if holder.value.get("path") is None:
        return ""
    path = holder.text("path", required=True)
    if not path:
        return None
    path = path.removesuffix("/")
    if not _PATH.fullmatch(path) or len(path) > MAX_CHARACTERS:
        rule = "must be a relative path, none of whose parts begins with a dot"
        holder.problems.add(holder.at("path"), rule)
        return None
    return path
