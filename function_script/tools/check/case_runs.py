"""The runs of the cases of `test`, which have observed objects that no XR at hand has."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from function_script.texts.errors import FatalError
from function_script.tools import xr_validation
from function_script.tools.cases import fake_cluster, loader, model, parser
from function_script.tools.check.xr_runs import Reconciles, Run, Subject
from function_script.tools.project import SUFFIXES


def plan(subject: Subject, folders: Sequence[Path]) -> Iterator[Reconciles]:
    """Yield the reconciles of each case of a Composition.

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
            case = parser.parse(file, cache)
            setup = case.setup
            if setup.inputs.composition == subject.document.value and not setup.skips_validation:
                yield _reconcile(subject, case)


def _reconcile(subject: Subject, case: model.Case) -> Reconciles:
    """Yield the reconciles of a case, up to one that is not to be judged.

    That is one which is expected to fail, or has an XR that the XRD does not allow.
    """
    cluster = fake_cluster.first(case.setup)
    for step in case.steps:
        if step.expect is not None and step.expect.error:
            return
        try:
            cluster = fake_cluster.before_step(cluster, step)
        except FatalError:
            return
        inputs = replace(cluster.inputs, composition=subject.document.value, xrd=subject.xrd)
        if subject.xrd is not None and xr_validation.validate(inputs.xr, subject.xrd).errors:
            return
        label = f'the XR of the case "{case.path}"'
        result = yield Run(inputs=inputs, label=label, is_at_hand=True)
        # A paused XR stays as it is, and so do its composed resources: no step was called.
        if result.requirements is not None:
            cluster = fake_cluster.after_step(cluster, result)
