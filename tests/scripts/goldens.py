"""Golden scripts: text files with a scope, a program, and what the program gives.

A file is one behaviour, and its name says which. Sections begin with ``=== name``:
``scope`` (YAML: parts of a request, ``params``, ``seed``), ``program``, ``module NAME``,
``options`` and ``limits`` (YAML), and at the end ``expected`` or ``error``, which `make goldens`
adds. What stands before the first section is a comment. A scope replaces parts of the one in
``scope.yaml`` beside it.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml
from support.results import whole

from function_script.engines.language import Engine
from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.request.program import Program, Scope, TemplateResult
from function_script.request.values import Object, Readable, Value
from function_script.texts import diagnostics
from function_script.texts.errors import FatalError
from function_script.texts.source import Source

HERE = Path(__file__).parent
_SECTION = re.compile(r"^=== (\w+)(?: (.+))?\n", re.MULTILINE)
_PARTS = (
    "meta",
    "input",
    "context",
    "required_resources",
    "extra_resources",
    "credentials",
    "required_schemas",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """One file: ``head`` is its text up to the outcome, ``outcome`` "expected", "error" or ""."""

    path: Path
    head: str
    scope: Scope
    program: Program
    limits: Limits
    outcome: str
    text: str

    @property
    def id(self) -> str:
        return self.path.stem


def load(language: str, main: str) -> list[Golden]:
    """The files of a language, whose program is named ``main`` in positions."""
    shared = HERE / language / "scope.yaml"
    shared_scope = _read_mapping(shared.read_text()) if shared.exists() else {}
    return [_read(path, main, shared_scope) for path in sorted((HERE / language).glob("*.txt"))]


def check(golden: Golden, engine: Engine, *, update: bool) -> None:
    """Run a golden's program and compare; ``update`` writes what came out instead."""
    outcome, text = _run(golden, engine)
    if update:
        golden.path.write_text(f"{golden.head}=== {outcome}\n{text}")
        return
    assert (outcome, text) == (golden.outcome, golden.text), "run `make goldens` and review it"


def scope(given: dict[str, Value]) -> Scope:
    """A scope as the main path makes it: absent parts are empty, names are sorted."""
    request: dict[str, Readable] = {part: _sorted(given.get(part) or {}) for part in _PARTS}
    for part in ("observed", "desired"):
        state = given.get(part) or {}
        assert isinstance(state, dict)
        composite = state.get("composite") or {"resource": {}}
        resources = _sorted(state.get("resources") or {})
        request[part] = _lazy({"composite": composite, "resources": resources})
    params, seed = given.get("params") or {}, given.get("seed") or ""
    assert isinstance(params, dict)
    return Scope(request=_lazy(request), params=params, uid=str(seed), seed=str(seed))


def _lazy(parts: dict[str, Readable]) -> Lazy:
    return Lazy({name: lambda value=value: value for name, value in parts.items()})


def _sorted(value: Value) -> Lazy:
    assert isinstance(value, dict)
    return _lazy({name: value[name] for name in sorted(value)})


def _read(path: Path, main: str, shared_scope: Object) -> Golden:
    text = path.read_text()
    headings = list(_SECTION.finditer(text))
    ends = [mark.start() for mark in headings[1:]] + [len(text)]
    sections = [
        (mark[1], mark[2], text[mark.end() : end]) for mark, end in zip(headings, ends, strict=True)
    ]
    parts = {name: body for name, argument, body in sections if argument is None}
    modules = {
        argument: Source(name=f"modules[{argument}]", text=body)
        for name, argument, body in sections
        if name == "module"
    }
    outcome, _, expected = sections[-1] if sections[-1][0] in {"expected", "error"} else ("",) * 3
    return Golden(
        path=path,
        head=text[: headings[-1].start()] if outcome else text,
        scope=scope(shared_scope | _read_mapping(parts.get("scope", ""))),
        program=Program(
            main=Source(name=main, text=parts["program"]),
            modules=modules,
            options=_read_mapping(parts.get("options", "")),
        ),
        limits=Limits(**_read_mapping(parts.get("limits", ""))),
        outcome=outcome,
        text=expected,
    )


def _read_mapping(text: str) -> Object:
    # In plain Python, PyYAML would take a second of each collection.
    return yaml.load(text, yaml.CSafeLoader) or {}


def _run(golden: Golden, engine: Engine) -> tuple[str, str]:
    try:
        result = engine.evaluate(golden.program, golden.scope, golden.limits)
    except FatalError as error:
        return "error", "\n".join(diagnostics.to_frame(d) for d in error.diagnostics) + "\n"
    if isinstance(result, TemplateResult):
        return "expected", result.text
    return "expected", yaml.safe_dump(whole(result), allow_unicode=True)
