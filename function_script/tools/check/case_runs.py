"""The runs of the cases of `test`, which have observed objects that no XR at hand has."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from function_script.texts.errors import FatalError
from function_script.tools import xr_validation
from function_script.tools.cases import fake_cluster, loader, model, parser
from function_script.tools.cases.fake_cluster import FakeCluster
from function_script.tools.check.runs import Run, Subject
from function_script.tools.project import SUFFIXES
from function_script.tools.render.compose import RenderResult


def plan(subject: Subject, folders: Sequence[Path]) -> Iterator[Run]:
    """Yield the first reconcile of each case of a Composition; the others follow.

    A case that cannot be read has none: `test` reports it.
    """
    files = [
        file
        for folder in folders
        for file in subject.project.find_files(folder, SUFFIXES)
        if model.is_case(file)
    ]
    cache = loader.FileCache(subject.project)
    for file in files[: subject.max_examples]:
        with suppress(FatalError):
            case = parser.parse(model.CaseFile(path=file), cache)
            setup = case.setup
            if setup.program.composition == subject.document.value and not setup.skips_validation:
                cluster = fake_cluster.first(setup)
                if (run := _start(subject, case, case.steps, cluster)) is not None:
                    yield run


def _start(
    subject: Subject, case: model.Case, steps: Sequence[model.Step], cluster: FakeCluster
) -> Run | None:
    """Return the next reconcile of a case; None at its end, and at one that is not to be judged.

    That is one which is expected to fail, or has an XR that the XRD does not allow.
    """
    if not steps or (steps[0].expect is not None and steps[0].expect.error):
        return None
    try:
        cluster = fake_cluster.before_step(cluster, steps[0])
    except FatalError:
        return None
    xr = cluster.whole_xr()
    if subject.xrd is not None and xr_validation.validate(xr, subject.xrd).errors:
        return None
    inputs = replace(
        cluster.to_inputs(case.setup), composition=subject.document.value, xrd=subject.xrd
    )
    return Run(
        inputs=inputs,
        label=f'the XR of the case "{case.path}"',
        follow=partial(_follow, subject, case, steps[1:], cluster),
    )


def _follow(
    subject: Subject,
    case: model.Case,
    steps: Sequence[model.Step],
    cluster: FakeCluster,
    result: RenderResult,
) -> Run | None:
    # A paused XR stays as it is, and so do its composed resources: no step was called.
    if result.requirements is not None:
        cluster = fake_cluster.after_step(cluster, case.setup, result)
    return _start(subject, case, steps, cluster)
