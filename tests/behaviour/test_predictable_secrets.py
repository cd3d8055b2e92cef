"""A random text that goes into a secret is warned of, unless the operator's salt is in it."""

from pathlib import Path

import pytest
from support import builders
from support.commands import Run

from function_script.engines import secret_fields
from function_script.request.values import Object
from function_script.tools.check import checker

NAME = "gotemplating.fn.crossplane.io/composition-resource-name"
OWN_NAME = "script.fn.crossplane.io/composition-resource-name"


def go(body: str) -> Object:
    """An input of function-go-templating, whose random values are stable."""
    head = f"apiVersion: v1\nkind: Secret\nmetadata: {{annotations: {{{NAME}: a}}}}\n"
    return builders.peer(head + body)


def jinja(body: str) -> Object:
    head = f"apiVersion: v1\nkind: Secret\nmetadata: {{annotations: {{{OWN_NAME}: a}}}}\n"
    return builders.jinja(head + body)


def starlark(body: str) -> Object:
    script = (
        "def main(req):\n"
        f"    a = {body}\n"
        '    return {"desired": {"resources": {"a": {"resource": a}}}}\n'
    )
    return builders.starlark(script)


def warnings(step_input: Object, seed: bytes = b"") -> list[str]:
    """The paths that the warnings name."""
    response = builders.call(builders.request(step_input), seed=seed)
    assert [result for result in response.results if result.severity == 1] == []
    return [
        result.message.partition(" is a random text")[0].removeprefix('resource "a": ')
        for result in response.results
        if result.reason == "PredictableSecret"
    ]


MANIFEST = '{"apiVersion": "v1", "kind": "Secret", "stringData": {"p": %s}}'
OBJECT = '{"apiVersion": "example.org/v1", "kind": "Db", "spec": %s}'


@pytest.mark.parametrize(
    ("step_input", "paths"),
    [
        pytest.param(go("data: {pw: {{ randAlphaNum 16 | b64enc }}}"), ["data.pw"], id="go-base64"),
        pytest.param(go("stringData: {pw: x-{{ uuidv4 }}}"), ["stringData.pw"], id="go-part"),
        pytest.param(go("data: {pw: {{ randBytes 16 }}}"), ["data.pw"], id="go-bytes"),
        pytest.param(
            jinja("stringData: {pw: {{ stable_id('db', 20) }}}"), ["stringData.pw"], id="jinja"
        ),
        pytest.param(starlark(MANIFEST % 'stable_id("db")'), ["stringData.p"], id="starlark"),
        pytest.param(
            starlark(MANIFEST % 'sha256(stable_id("db"))'), ["stringData.p"], id="starlark-digest"
        ),
        pytest.param(
            go("stringData: {pw: {{ randAlphaNum 16 | sha256sum | trunc 20 }}}"),
            ["stringData.pw"],
            id="go-digest",
        ),
        pytest.param(
            starlark(OBJECT % '{"users": [{"adminPassword": stable_id("db")}]}'),
            ["spec.users[0].adminPassword"],
            id="field-called-like-a-secret",
        ),
        pytest.param(
            starlark(OBJECT % ('{"manifest": %s}' % (MANIFEST % 'stable_id("db")'))),
            ["spec.manifest.stringData.p"],
            id="secret-in-an-object",
        ),
        pytest.param(go("data: {username: {{ randAlphaNum 16 | b64enc }}}"), [], id="user-name"),
        pytest.param(go("type: x-{{ randAlphaNum 16 }}"), [], id="beside-the-data"),
        pytest.param(go('data: {pw: {{ b64enc "fixed" }}}'), [], id="no-random-text"),
        pytest.param(go("data: {pw: {{ randAlphaNum 3 | b64enc }}}"), [], id="short"),
        pytest.param(
            starlark(OBJECT % '{"secretName": stable_id("a"), "keyRef": {"name": stable_id("b")}}'),
            [],
            id="names-of-secrets",
        ),
        pytest.param(
            starlark(MANIFEST % 'stable_choice(["eu-central-1", "us-east-1"], "zone")'),
            [],
            id="choice",
        ),
        pytest.param(
            starlark(OBJECT % '{"password": sha256("x"), "suffix": stable_id("a")}'),
            [],
            id="another-value",
        ),
    ],
)
def test_random_text_is_warned_of_where_it_is_a_secret(
    step_input: Object, paths: list[str]
) -> None:
    assert warnings(step_input) == paths


def test_connection_details_are_secrets() -> None:
    script = """
def main(req):
    detail = b64encode(stable_id("db"))
    return {"desired": {"composite": {"connection_details": {"pw": detail, "host": detail}}}}
"""
    assert warnings(builders.starlark(script)) == ['connection detail "pw"']


@pytest.mark.parametrize(
    ("step_input", "count"),
    [
        pytest.param(starlark(MANIFEST % 'stable_secret("db")'), 0, id="starlark"),
        pytest.param(jinja("stringData: {p: '{{ stable_secret('db') }}'}"), 0, id="jinja"),
        pytest.param(go("stringData: {p: '{{ randAlphaNum 32 }}'}"), 0, id="go"),
        pytest.param(starlark(MANIFEST % 'stable_id("db")'), 1, id="id"),
    ],
)
def test_salted_texts_are_secrets(step_input: Object, count: int) -> None:
    """Nobody knows the operator's salt; an id has none in it."""
    assert warnings(step_input) == ["stringData.p"]
    assert warnings(step_input, seed=b"of a salt" * 4) == ["stringData.p"] * count


def test_many_secrets_give_a_few_warnings() -> None:
    members = "{str(i): stable_id(str(i), 64) for i in range(900)}"
    body = f'{{"apiVersion": "v1", "kind": "Secret", "data": {members}}}'
    assert len(warnings(starlark(body))) == 10


TEMPLATE = """\
{{ $password := randAlphaNum 16 }}
{{ $suffix := randAlphaNum 8 }}
{{ $values := dict }}{{ $_ := set $values "apiKey" (randAlphaNum 16) }}
apiVersion: v1
kind: Secret
metadata:
  name: a-{{ randAlphaNum 6 }}
data:
  {{ if true }}
  pw: {{ randAlphaNum 12 | b64enc }}
  {{ end }}
  username: {{ randAlphaNum 8 | b64enc }}
  # other: {{ randAlphaNum 8 }}
---
kind: Db
spec:
  data:
    pw: {{ randAlphaNum 12 }}
  tokens: "{{ uuidv4 }}"
  secretName: {{ randAlphaNum 8 }}
  host: example.org:{{ randNumeric 8 }}
---
kind: Secret
stringData:
  url: https://{{ randAlphaNum 9 }}.example.org
  dsn: "postgres://root:{{ randAlphaNum 9 }}@db"
"""


def test_check_finds_calls_for_secrets(tmp_path: Path) -> None:
    path = tmp_path / "input.yaml"
    indented = "".join(f"    {line}\n" for line in TEMPLATE.splitlines())
    path.write_text(
        "apiVersion: gotemplating.fn.crossplane.io/v1beta1\nkind: GoTemplate\nsource: Inline\n"
        f"inline:\n  template: |\n{indented}"
    )
    findings = [each for each in checker.check([str(path)]).findings if "predict" in each.rule]
    places = [
        (each.diagnostic.message.partition('"')[2].partition('"')[0], each.diagnostic.span.line - 5)
        for each in findings
        if each.diagnostic.span is not None
    ]
    assert places == [("password", 1), ("apiKey", 3), ("pw", 10), ("tokens", 19), ("dsn", 26)]


@pytest.mark.parametrize(
    "line",
    [
        '    password = stable_id("db")',
        '    return {"password": stable_id("db")}',
        '    return dict(name=1, admin_password=stable_id("db"))',
        '    a = {}; a["token"] = stable_id("db")',
        '    password = stable_secret("db")',
    ],
)
def test_check_finds_a_call_in_a_script(line: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "input.yaml"
    path.write_text(
        "apiVersion: script.fn.crossplane.io/v1beta1\nkind: StarlarkScript\nscript: |\n"
        f"  def main(req):\n  {line}\n      return {{}}\n"
    )
    salted = run("check", path, "--salted", "--variants", "0", "--diagnostics", "json").out
    count = 0 if "stable_secret" in line else 1
    assert salted.count('"rule": "predictable-secret"') == count
    findings = checker.check([str(path)]).findings
    (finding,) = [each for each in findings if each.rule == "predictable-secret"]
    assert finding.diagnostic.span is not None
    assert finding.diagnostic.span.column == len("  ") + line.index("stable_") + 1


SECRETS = ["password", "dbPassword", "auth-token", "clientSecret", "api_key", "pwd", "passphrase"]
OTHERS = [
    "secretName",
    "passwordSecretRef",
    "publicKey",
    "kmsKeyId",
    "tokenUrl",
    "key",
    "bypass_mode",
]


@pytest.mark.parametrize("name", SECRETS + OTHERS)
def test_name_of_a_secret_is_recognised(name: str) -> None:
    assert secret_fields.is_secret(name) is (name in SECRETS)
