"""The names that scripts find, for editors that read stubs.

Written by `make goldens`.
"""

from collections.abc import Callable

from _typeshed import Incomplete


class Response:
    """What ``response()`` gives."""

    def resource(self, name: str, body: dict[str, Incomplete] | Callable[[], dict[str, Incomplete]], ready: bool | None=None, depends_on: list[Incomplete] | None=None, ready_when: str | None=None, usages: bool | None=None, moved_from: str | list[Incomplete] | None=None) -> None:
        """Set a composed resource of this step. ``ready`` is True, False, or None for no statement. ``body`` is the object, or a function that returns it: with `missing: Defer` only this resource waits for missing values."""

    def remove(self, name: str) -> None:
        """Remove a composed resource that an earlier step desires."""

    def status(self, fields: dict[str, Incomplete]) -> None:
        """Merge fields into the composite resource's status."""

    def set_status(self, path: str | list[Incomplete] | tuple[Incomplete, ...], value: Incomplete) -> None:
        """Set one field of the composite resource's status, at a path below ``status``."""

    def ready(self, ready: bool) -> None:
        """Set the readiness of the composite resource."""

    def connection_details(self, details: dict[str, Incomplete]) -> None:
        """Add to the composite resource's connection details; XRs of Crossplane 2 have none."""

    def event(self, message: str, reason: str='', target: str='Composite') -> None:
        """Add a Normal event on the composite resource, for something new: not in every run."""

    def warning(self, message: str, reason: str='', target: str='Composite') -> None:
        """Add a Warning event on the composite resource."""

    def fatal(self, message: str, reason: str='', target: str='Composite') -> None:
        """Stop the pipeline with this message. Conditions and events before it are kept."""

    def condition(self, type: str, status: bool | str, reason: str, message: str='', target: str='Composite') -> None:
        """Set a condition of the composite resource; ``status`` is True, False or "Unknown"."""

    def context(self, key: str, value: Incomplete) -> None:
        """Set a key of the context that later steps get."""

    def require(self, name: str, api_version: str, kind: str, match_name: str | None=None, match_labels: dict[str, Incomplete] | None=None, namespace: str | None=None) -> None:
        """Ask Crossplane for resources, by name or by labels; the next run gets them as ``name``."""

    def require_schema(self, name: str, api_version: str, kind: str) -> None:
        """Ask Crossplane for a kind's OpenAPI schema; the next run gets it as ``name``."""

    def ttl(self, duration: str) -> None:
        """Set the time for which the response is valid, such as "5m"."""

    def output(self, value: dict[str, Incomplete]) -> None:
        """Set the output of an Operation."""

    def build(self) -> dict[str, Incomplete]:
        """Return the response as a dict."""

def get_xr(req: dict[str, Incomplete], path: str | list[Incomplete] | tuple[Incomplete, ...] | None=None, default: Incomplete=None) -> Incomplete:
    """The observed composite resource, or its field at a path.

    Example: get_xr(req, "spec.region", "eu")
    """

def get_observed(req: dict[str, Incomplete], name: str, path: str | list[Incomplete] | tuple[Incomplete, ...] | None=None, default: Incomplete=None) -> Incomplete:
    """An observed composed resource, or its field at a path; the default if it does not exist.

    Example: get_observed(req, "bucket", "status.atProvider.arn", "pending")
    """

def is_observed(req: dict[str, Incomplete], name: str) -> bool:
    """True if a composed resource of this name exists.

    Example: is_observed(req, "bucket")
    """

def get_desired(req: dict[str, Incomplete], name: str, path: str | list[Incomplete] | tuple[Incomplete, ...] | None=None, default: Incomplete=None) -> Incomplete:
    """A composed resource that earlier steps desire, or its field at a path.

    Example: get_desired(req, "bucket", "spec.forProvider.region")
    """

def get_connection_details(req: dict[str, Incomplete], name: str | None=None) -> dict[str, Incomplete]:
    """The connection details of an observed composed resource, or of the composite resource.

    Example: get_connection_details(req, "database").get("password")
    """

def get_required(req: dict[str, Incomplete], name: str, default: Incomplete=None) -> Incomplete:
    """The list of required resources of this name; the default until Crossplane has fetched them.

    Example: get_required(req, "zones", [])
    """

def get_environment(req: dict[str, Incomplete], path: str | list[Incomplete] | tuple[Incomplete, ...] | None=None, default: Incomplete=None) -> Incomplete:
    """The environment of function-environment-configs, or its field at a path.

    Example: get_environment(req, "region", "eu")
    """

def get_credentials(req: dict[str, Incomplete], name: str) -> dict[str, Incomplete]:
    """The data of the credentials of this name; empty if the step has none.

    Example: get_credentials(req, "aws").get("key")
    """

def has_capability(req: dict[str, Incomplete], name: str) -> bool:
    """True if Crossplane advertises a capability; before v2.2 it advertises none.

    Example: has_capability(req, "REQUIRED_SCHEMAS")
    """

def get_watched(req: dict[str, Incomplete], path: str | list[Incomplete] | tuple[Incomplete, ...] | None=None, default: Incomplete=None) -> Incomplete:
    """The resource that a WatchOperation watches, or its field at a path.

    Example: get_watched(req, "metadata.name")
    """

def response() -> Response:
    """An empty response. The functions below fill it; ``return rsp.build()`` returns it, and so does ``return rsp``.

    Example: response().build()
    """

def get(value: Incomplete, path: str | list[str | int], default: Incomplete = None) -> Incomplete:
    r"""The field at a path, or the default if a part of the path is missing or null.

    Example: get({"a": {"b": [7]}}, "a.b[0]", 1) gives 7
    """


def merge(target: dict[str, Incomplete], source: dict[str, Incomplete]) -> dict[str, Incomplete]:
    r"""Both objects in one: maps merge at any depth, lists and scalars of ``source`` replace.

    Example: merge({"a": {"b": 1}}, {"a": {"c": 2}}) gives {"a": {"b": 1, "c": 2}}
    """


def pick(value: dict[str, Incomplete], keys: list[str]) -> dict[str, Incomplete]:
    r"""The object with only these keys.

    Example: pick({"a": 1, "b": 2}, ["a"]) gives {"a": 1}
    """


def omit(value: dict[str, Incomplete], keys: list[str]) -> dict[str, Incomplete]:
    r"""The object without these keys.

    Example: omit({"a": 1, "b": 2}, ["a"]) gives {"b": 2}
    """


def compact(value: Incomplete) -> Incomplete:
    r"""The value without null fields at any depth; empty objects and lists stay.

    Example: compact(from_json("{\"a\": {\"b\": null}}")) gives {"a": {}}
    """


def get_condition(resource: dict[str, Incomplete] | None, type: str) -> dict[str, Incomplete]:
    r"""The condition of this type; its status is "Unknown" and the rest empty if there is none.

    Example: get_condition({}, "Synced") gives {"type": "Synced", "status": "Unknown", "reason": "", "message": "", "lastTransitionTime": ""}
    """


def is_ready(resource: dict[str, Incomplete] | None, type: str = 'Ready') -> bool:
    r"""True if the condition Ready (or another one) is True; `unready_reason` knows each kind.

    Example: is_ready({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}) gives true
    """


def unready_reason(resource: dict[str, Incomplete] | None) -> str:
    r"""Why the resource is not ready, by the rule of its kind; an empty text if it is ready.

    Example: unready_reason({"kind": "Bucket", "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Creating"}]}}) gives "has Ready=False: Creating"
    """


def is_deleting(resource: dict[str, Incomplete] | None) -> bool:
    r"""Whether the resource is being deleted.

    Example: is_deleting({"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}}) gives true
    """


def get_external_name(resource: dict[str, Incomplete] | None, default: Incomplete = None) -> Incomplete:
    r"""The name of the external resource, from the annotation crossplane.io/external-name.

    Example: get_external_name({"metadata": {"annotations": {"crossplane.io/external-name": "b-1"}}}) gives "b-1"
    """


def with_external_name(resource: dict[str, Incomplete], name: str) -> dict[str, Incomplete]:
    r"""The resource with the annotation crossplane.io/external-name set.

    Example: with_external_name({"kind": "Bucket"}, "b-1") gives {"kind": "Bucket", "metadata": {"annotations": {"crossplane.io/external-name": "b-1"}}}
    """


def get_annotation(resource: dict[str, Incomplete] | None, key: str, default: Incomplete = None) -> Incomplete:
    r"""The value of an annotation, or the default.

    Example: get_annotation({"metadata": {"annotations": {"a.b/c": "x"}}}, "a.b/c") gives "x"
    """


def get_label(resource: dict[str, Incomplete] | None, key: str, default: Incomplete = None) -> Incomplete:
    r"""The value of a label, or the default.

    Example: get_label({"metadata": {"labels": {"app": "web"}}}, "tier", "none") gives "none"
    """


def connection_secret(data: dict[str, Incomplete], name: str = '', namespace: str = '', *, resource_name: str = '') -> dict[str, Incomplete]:
    r"""A Secret with connection details; templates give it its ``resource_name`` here, too.

    Example: connection_secret({"user": "admin"}, "db-1") gives {"apiVersion": "v1", "kind": "Secret", "type": "connection.crossplane.io/v1alpha1", "metadata": {"name": "db-1"}, "data": {"user": "YWRtaW4="}}
    """


def dns1123(text: str, max_length: int = 63) -> str:
    r"""A DNS-1123 label: the text itself if it is one, else its letters and digits and a hash.

    Example: dns1123("My App") gives "my-app-96c6f417"
    """


def child_name(parent: str, name: str, max_length: int = 63) -> str:
    r"""``parent-name`` as a DNS-1123 label; when too long, both are cut and a hash is added.

    Example: child_name("my-xr", "bucket") gives "my-xr-bucket"
    """


def slugify(text: str, max_length: int = 63) -> str:
    r"""Lower-case ASCII letters, digits and dashes of a text, without a hash: may collide.

    Example: slugify("Café au lait") gives "cafe-au-lait"
    """


def label_value(text: str) -> str:
    r"""A label's value: the text itself if it may be one, else what may stay of it and a hash.

    Example: label_value("team/platform") gives "team-platform-57b7c7f6"
    """


def stable_id(key: str, length: int = 8) -> str:
    r"""Hexadecimal digits (1 to 64) that stay for one composite resource and key; not secret.

    Example: stable_id("bucket") gives "8e64d960"
    """


def stable_secret(key: str, length: int = 32) -> str:
    r"""Letters and digits (8 to 256) for one composite resource and key; secret with a salt.

    Example: stable_secret("password") gives "shhQw1JfkWoKhqAvIrVxrINiRYD6iCdu"
    """


def stable_choice(choices: list[Incomplete], key: str = '') -> Incomplete:
    r"""One of the choices, that stays for one composite resource and key while it is offered.

    Example: stable_choice(["a", "b", "c"]) gives "b"
    """


def indent(text: str, spaces: int, *, first: bool = False) -> str:
    r"""Indent every line but the first (with ``first`` also that); empty lines stay empty.

    Example: indent("a\nb", 2) gives "a\n  b"
    """


def nindent(text: str, spaces: int) -> str:
    r"""Indent every line, after a line break: to begin a block below a key.

    Example: nindent("a\nb", 2) gives "\n  a\n  b"
    """


def quote(value: Incomplete) -> str:
    r"""A double-quoted string, for YAML and JSON alike; numbers and booleans become text.

    Example: quote(8080) gives "\"8080\""
    """


def truncate(text: str, length: int) -> str:
    r"""At most the first ``length`` characters; negative: the last ones.

    Example: truncate("eu-west-1", 2) gives "eu"
    """


def trim_prefix(text: str, prefix: str) -> str:
    r"""The text without the prefix, if it begins with it.

    Example: trim_prefix("v1.2", "v") gives "1.2"
    """


def trim_suffix(text: str, suffix: str) -> str:
    r"""The text without the suffix, if it ends with it.

    Example: trim_suffix("a.yaml", ".yaml") gives "a"
    """


def to_json(value: Incomplete) -> str:
    r"""Compact JSON with sorted keys, which is YAML, too.

    Example: to_json({"b": 1, "a": [2]}) gives "{\"a\":[2],\"b\":1}"
    """


def to_pretty_json(value: Incomplete) -> str:
    r"""JSON with sorted keys, indented by two blanks, which is YAML, too.

    Example: to_pretty_json({"a": 1}) gives "{\n  \"a\": 1\n}"
    """


def from_json(text: str) -> Incomplete:
    r"""The value of a JSON text; whole numbers are integers.

    Example: from_json("{\"a\": 1.0}") gives {"a": 1}
    """


def to_yaml(value: Incomplete) -> str:
    r"""YAML with sorted keys, without a line break at the end: to be indented and filled in.

    Example: to_yaml({"b": ["x"], "a": "yes"}) gives "a: \"yes\"\nb:\n- x"
    """


def from_yaml(text: str) -> Incomplete:
    r"""The value of a text of one YAML document; null when it is empty.

    Example: from_yaml("a: [yes, 0x10]") gives {"a": [true, 16]}
    """


def from_yaml_stream(text: str) -> list[Incomplete]:
    r"""The objects of a stream of YAML or JSON documents; empty documents are left out.

    Example: from_yaml_stream("a: 1\n---\nb: 2") gives [{"a": 1}, {"b": 2}]
    """


def b64encode(text: str) -> str:
    r"""Base 64 of the text's UTF-8 bytes, padded.

    Example: b64encode("hi") gives "aGk="
    """


def b64decode(text: str) -> str:
    r"""The text whose base 64 this is; line breaks and missing padding are accepted.

    Example: b64decode("aGk=") gives "hi"
    """


def b64url_encode(text: str) -> str:
    r"""Base 64 in the alphabet for URLs (- and _), without padding.

    Example: b64url_encode("a?>") gives "YT8-"
    """


def b64url_decode(text: str) -> str:
    r"""The text whose base 64 in the alphabet for URLs this is, padded or not.

    Example: b64url_decode("YT8-") gives "a?>"
    """


def b32encode(text: str) -> str:
    r"""Base 32 of the text's UTF-8 bytes, padded.

    Example: b32encode("hi") gives "NBUQ===="
    """


def b32decode(text: str) -> str:
    r"""The text whose base 32 this is; missing padding is accepted.

    Example: b32decode("NBUQ") gives "hi"
    """


def hex_encode(text: str) -> str:
    r"""Two lower-case hexadecimal digits for each of the text's UTF-8 bytes.

    Example: hex_encode("hi") gives "6869"
    """


def hex_decode(text: str) -> str:
    r"""The text whose UTF-8 bytes these hexadecimal digits are.

    Example: hex_decode("6869") gives "hi"
    """


def url_quote(text: str) -> str:
    r"""Percent encoding of everything but letters, digits and -._~ (slashes are encoded too).

    Example: url_quote("a b/c") gives "a%20b%2Fc"
    """


def url_unquote(text: str) -> str:
    r"""The text whose percent encoding this is.

    Example: url_unquote("a%20b%2Fc") gives "a b/c"
    """


def md5(text: str) -> str:
    r"""MD5 of the text's UTF-8 bytes; only for checksums that others ask for.

    Example: md5("hi") gives "49f68a5c8493ec2c0bf489821c21fc3b"
    """


def sha1(text: str) -> str:
    r"""SHA-1 of the text's UTF-8 bytes; only for checksums that others ask for.

    Example: sha1("hi") gives "c22b5f9178342609428d6f51b2c5af4c0bde6a42"
    """


def sha256(text: str) -> str:
    r"""SHA-256 of the text's UTF-8 bytes.

    Example: sha256("hi") gives "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
    """


def sha512(text: str) -> str:
    r"""SHA-512 of the text's UTF-8 bytes.

    Example: sha512("hi") gives "150a14ed5bea6cc731cf86c41566ac427a8db48ef1b9fd626664b3bfbb99071fa4c922f33dde38719b8c8354e2b7ab9d77e0e67fc12843920a712e73d558e197"
    """


def hmac_sha256(key: str, text: str) -> str:
    r"""HMAC with SHA-256 of the text under the key.

    Example: hmac_sha256("key", "hi") gives "1c9dc82e5f8e5ed5a0180aad33b8204dea12fde2fb62ffb5e963035bf324a7a4"
    """


def regex_match(text: str, pattern: str) -> bool:
    r"""Whether the pattern matches anywhere in the text; ^ and $ anchor it.

    Example: regex_match("eu-west-1", "^eu-") gives true
    """


def regex_find(text: str, pattern: str) -> str | None:
    r"""The first match, or null.

    Example: regex_find("eu-west-1", "[0-9]+") gives "1"
    """


def regex_find_all(text: str, pattern: str) -> list[str]:
    r"""All matches that do not overlap, from left to right.

    Example: regex_find_all("10.0.0.1", "[0-9]+") gives ["10", "0", "0", "1"]
    """


def regex_groups(text: str, pattern: str) -> list[Incomplete] | None:
    r"""The groups of the first match, null for one that took no part; null without a match.

    Example: regex_groups("eu-west-1", "^(.*)-(.*)$") gives ["eu-west", "1"]
    """


def regex_replace(text: str, pattern: str, replacement: str) -> str:
    r"""Replace every match; $1, ${1} and ${name} are groups, $$ is a dollar sign.

    Example: regex_replace("a.b.c", "([a-z])[.]", "$1/") gives "a/b/c"
    """


def regex_split(text: str, pattern: str) -> list[str]:
    r"""The texts between the matches.

    Example: regex_split("a, b;c", "[,;] *") gives ["a", "b", "c"]
    """


def regex_escape(text: str) -> str:
    r"""A pattern that matches exactly this text.

    Example: regex_escape("a.b") gives "a\\.b"
    """


def cidr_subnet(cidr: str, new_bits: int, index: int) -> str:
    r"""The network number ``index`` of those ``new_bits`` longer; negative: from the end.

    Example: cidr_subnet("10.0.0.0/16", 8, 2) gives "10.0.2.0/24"
    """


def cidr_subnets(cidr: str, new_bits: list[int]) -> list[str]:
    r"""One network after the other, each longer by its number of new bits, as close as they fit.

    Example: cidr_subnets("10.0.0.0/16", [8, 8, 4]) gives ["10.0.0.0/24", "10.0.1.0/24", "10.0.16.0/20"]
    """


def cidr_contains(cidr: str, address: str) -> bool:
    r"""Whether an address or a whole network lies in the network; false across IPv4 and IPv6.

    Example: cidr_contains("10.0.0.0/8", "10.1.2.3") gives true
    """


def cidr_host(cidr: str, index: int) -> str:
    r"""The address number ``index``, counted from the network's own; negative: from the end.

    Example: cidr_host("10.0.0.0/24", 5) gives "10.0.0.5"
    """


def cidr_netmask(cidr: str) -> str:
    r"""The netmask as an address.

    Example: cidr_netmask("10.0.0.0/20") gives "255.255.240.0"
    """


def cidr_network(cidr: str) -> str:
    r"""The network an address with a prefix length lies in.

    Example: cidr_network("10.0.1.7/16") gives "10.0.0.0/16"
    """


def duration_seconds(text: str) -> float:
    r"""The seconds of a duration such as 1h30m or 1.5s; whole ones are integers.

    Example: duration_seconds("1h30m") gives 5400
    """


def quantity(text: str) -> float:
    r"""The number of a Kubernetes quantity such as 500m or 1Gi.

    Example: quantity("1.5Gi") gives 1610612736
    """
