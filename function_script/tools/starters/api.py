"""The API of a new project: the kind, group and version of its XRs."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from function_script import documents
from function_script.request.objects import MAX_LABEL, MAX_SUBDOMAIN, SUBDOMAIN
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError

DEFAULT_KIND: Final = "App"
DEFAULT_GROUP: Final = "platform.example.org"
DEFAULT_VERSION: Final = "v1alpha1"

_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]*")
_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
# The API server accepts no CRD of these groups without an approval.
_PROTECTED: Final = re.compile(r"(.*\.)?(k8s|kubernetes)\.io")
# The groups of Crossplane and of its functions; example.crossplane.io is none of them.
_CROSSPLANE: Final = re.compile(
    r"((meta\.)?pkg|apiextensions|ops|protection|secrets)\.crossplane\.io|(.*\.)?fn\.crossplane\.io"
)
_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_VOWELS: Final = "aeiou"


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The names of an API; each of them is valid."""

    kind: str = DEFAULT_KIND
    group: str = DEFAULT_GROUP
    version: str = DEFAULT_VERSION

    @property
    def plural(self) -> str:
        """Return the plural of the kind in lower case, which URLs and the XRD's name have."""
        name = self.kind.lower()
        if name.endswith("y") and name[-2:-1] not in _VOWELS:
            return f"{name[:-1]}ies"
        return f"{name}es" if name.endswith(("s", "x", "z", "ch", "sh")) else f"{name}s"

    @property
    def substitutions(self) -> dict[str, str]:
        """Return the texts that take the place of the words in a starter's files."""
        return {
            # YAML reads some kinds as other values than texts, such as No.
            "KIND_NAME": documents.to_yaml(self.kind).strip(),
            "PLURAL_NAME": self.plural,
            "GROUP_NAME": self.group,
            "VERSION_NAME": self.version,
        }


def parse(kind: str, group: str, version: str) -> Api:
    """Return an API with these names; raises InputError with every invalid name."""
    api = Api(kind=kind, group=group, version=version)
    problems = [*find_problems(api).values()]
    if problems:
        raise InputError(*problems)
    return api


def find_problems(api: Api) -> dict[str, Diagnostic]:
    """Return the problems of names, by the attribute of the API."""
    problems: dict[str, Diagnostic] = {}
    if not _KIND.fullmatch(api.kind) or len(api.plural) > MAX_LABEL:
        problems["kind"] = Diagnostic(
            message=f'invalid kind "{api.kind}": a kind is a capital letter, then letters and '
            f"digits, and its plural has at most {MAX_LABEL} characters",
            hint=f"for example {to_kind(api.kind)}",
        )
    owner = find_owner(api.group)
    is_long = len(f"{api.plural}.{api.group}") > MAX_SUBDOMAIN
    if owner:
        problems["group"] = Diagnostic(
            message=f'invalid group "{api.group}": it is a group of {owner} itself',
            hint=f"use a domain of your own, such as {DEFAULT_GROUP}",
        )
    elif is_long or "." not in api.group or not SUBDOMAIN.fullmatch(api.group):
        problems["group"] = Diagnostic(
            message=f'invalid group "{api.group}": a group is a domain name in lower case, with a '
            f"dot, and has at most {MAX_SUBDOMAIN} characters with the plural",
            hint=f"for example {DEFAULT_GROUP}",
        )
    if not _LABEL.fullmatch(api.version) or len(api.version) > MAX_LABEL:
        problems["version"] = Diagnostic(
            message=f'invalid version "{api.version}": a version is a lower-case letter, then '
            f"lower-case letters, digits and dashes, at most {MAX_LABEL} characters",
            hint="for example v1 or v1alpha1",
        )
    return problems


def find_owner(group: str) -> str | None:
    """Return Kubernetes or Crossplane if the group is one of theirs."""
    if _PROTECTED.fullmatch(group):
        return "Kubernetes"
    return "Crossplane" if _CROSSPLANE.fullmatch(group) else None


def to_kind(name: str) -> str:
    """Return a kind for a folder's name, such as MyDb for my-db; App if it has no letters."""
    ascii_ = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = (word[0].upper() + word[1:] for word in _WORD.findall(ascii_))
    kind = "".join(words).lstrip("0123456789")[: MAX_LABEL - len("es")]
    return f"{kind[0].upper()}{kind[1:]}" if kind else DEFAULT_KIND


def to_folder(kind: str) -> str:
    """Return a folder's name for a kind, such as my-db for MyDb."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", kind).lower()
