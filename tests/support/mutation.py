"""Mutation as the oracle of positions: a literal is changed at its named place.

Exactly the values that are placed there must change, and nothing else.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from support.paths import ROOT

from function_script import documents
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request import objects
from function_script.request.values import Readable, Scalar
from function_script.sandbox.pool import Pool
from function_script.texts.errors import FatalError
from function_script.texts.source import Source, Span
from function_script.tools import local_pool
from function_script.tools.project import Project
from function_script.tools.render import RenderInputs, functions, loading, messages
from function_script.tools.render.positions import Origin
from function_script.tools.render.renderer import Options, Renderer, Rendering

EXAMPLES = sorted(
    path.parent
    for path in ROOT.glob("examples/*/composition.yaml")
    if (path.parent / "expected.yaml").exists()
)
"""The examples of Compositions that a test renders."""
# A value in a rendering: of a resource, or of the XR.
Leaf = tuple[str | None, objects.Path]


class Loaded(NamedTuple):
    """A folder's inputs, and what renders them."""

    renderer: Renderer
    inputs: RenderInputs
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The leaves of renderings, those with a line, and the literals that were changed.

    ``wrong`` describes the literals that changed something else.
    """

    leaves: int = 0
    placed: int = 0
    literals: int = 0
    unplaced: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __add__(self, other: "Score") -> "Score":
        return Score(
            leaves=self.leaves + other.leaves,
            placed=self.placed + other.placed,
            literals=self.literals + other.literals,
            unplaced=self.unplaced + other.unplaced,
            wrong=self.wrong + other.wrong,
        )


def load(folder: Path, pool: Pool, *, is_quiet: bool = False) -> Loaded:
    """Load a folder as `render` does."""
    paths = loading.find_render_paths(folder, Project([folder]))
    composition = loading.load_one(paths.composition, "a Composition", paths.project)
    xr = loading.load_one(paths.xr, "an XR", paths.project)
    inputs = loading.load_inputs(paths, composition, xr)
    options = Options(timeout_seconds=600, is_quiet=is_quiet)
    manifests = functions.load(paths.functions, paths.project)
    index = functions.FunctionIndex(manifests=manifests, options=options)
    programs = local_pool.programs_beside(paths.composition)
    origin = Origin(document=composition, programs=programs)
    sandbox = local_pool.bind_programs(pool, programs, paths.project)
    return Loaded(Renderer(sandbox, index.find_runtimes, options), inputs, origin)


def measure(renderer: Renderer, inputs: RenderInputs, origin: Origin, *, every: int = 1) -> Score:
    """Place all values that steps write, and change each ``every``-th literal."""
    rendering = renderer.reconcile(inputs, origin)
    assert rendering.result.failure is None
    source = origin.document.origin.source
    assert source is not None
    values = leaves_of(rendering)
    positions = {leaf: rendering.positions.locate(*leaf) for leaf in values}
    spans = {leaf: position.span for leaf, position in positions.items() if position is not None}

    def run(text: str) -> dict[Leaf, Scalar] | None:
        try:
            (document,) = documents.read_source(Source(name=source.name, text=text))
            other = renderer.reconcile(
                replace(inputs, composition=document.value), replace(origin, document=document)
            )
        except FatalError:
            return None
        return None if other.result.failure is not None else leaves_of(other)

    return score(source, values, spans, run, every=every)


def score(
    source: Source,
    values: Mapping[Leaf, Scalar],
    spans: Mapping[Leaf, Span | None],
    run: Callable[[str], Mapping[Leaf, Scalar] | None],
    *,
    every: int,
) -> Score:
    """Change literals of ``source`` where they are placed; ``run`` returns None if refused."""
    placed = {leaf: span for leaf, span in spans.items() if span is not None}
    lines = source.text.split("\n")
    # One change of a literal is for all leaves that it wrote.
    edits: dict[tuple[int, int, int], tuple[str, set[Leaf]]] = {}
    for leaf, span in placed.items():
        if span.name != source.name:
            continue
        at = find_literal(lines[span.line - 1], (span.column or 1) - 1, values[leaf], leaf[1][-1])
        if at is not None:
            _, same = edits.setdefault((span.line, *at), (mutate(values[leaf]), set()))
            same.add(leaf)
    literals, wrong = 0, []
    for (line, begin, end), (text, expected) in [*edits.items()][::every]:
        before = lines[line - 1]
        after = run(
            "\n".join([*lines[: line - 1], before[:begin] + text + before[end:], *lines[line:]])
        )
        if after is None:
            continue
        literals += 1
        changed = {leaf for leaf in values.keys() | after if values.get(leaf) != after.get(leaf)}
        if changed != expected:
            wrong.append(f"{source.name}:{line}: {before.strip()!r} {expected} {changed}")
    return Score(
        leaves=len(values),
        placed=len(placed),
        literals=literals,
        unplaced=[f"{source.name}: {leaf}" for leaf in values if leaf not in placed],
        wrong=wrong,
    )


def leaves_of(rendering: Rendering) -> dict[Leaf, Scalar]:
    """Return what steps desire: the scalars of resources and of the XR's status."""
    if not rendering.responses:
        return {}
    return leaves_in([*rendering.responses.values()][-1].desired)


def leaves_in(desired: pb.State) -> dict[Leaf, Scalar]:
    """Return the scalars of resources and of the XR's status."""
    roots: list[tuple[str | None, Readable]] = [
        (name, messages.read_struct(entry.resource)) for name, entry in desired.resources.items()
    ]
    roots.append((None, {"status": messages.read_struct(desired.composite.resource).get("status")}))
    return {(name, path): value for name, root in roots for path, value in _scalars(root, ())}


def _scalars(value: Readable, path: objects.Path) -> Iterator[tuple[objects.Path, Scalar]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _scalars(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _scalars(item, (*path, index))
    elif value is not None:
        assert isinstance(value, (str, int, float))
        yield path, value


def find_literal(line: str, start: int, value: Scalar, key: str | int) -> tuple[int, int] | None:
    """Return where a value is written out behind its key, or where it begins; None elsewhere."""
    text = {True: "true|True", False: "false|False"}.get(value) if isinstance(value, bool) else None
    text = text or re.escape(str(value))
    if not str(value):
        return None
    before = r"(?:- +)?" if isinstance(key, int) else rf"(?:\"?{re.escape(key)}\"?'?\s*[:,=]\s*)?"
    match = re.compile(rf"{before}[\"']?(?P<value>{text})[\"']?(?=\s*(?:$|[,}}\])#]))").match(
        line, start
    )
    return None if match is None else match.span("value")


def mutate(value: Scalar) -> str:
    """Return the text of another value of the same type."""
    if isinstance(value, bool):
        # Both languages' words are in a group of two; YAML reads either.
        return "False" if value else "True"
    if isinstance(value, (int, float)):
        return str(value + 1)
    return f"{value}x"
