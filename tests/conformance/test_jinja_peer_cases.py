"""The described cases of function-go-templating as Jinja templates, through the main path."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
import yaml
from google.protobuf import json_format
from support import builders, gotemplating

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.objects import find_path
from function_script.request.values import Object
from function_script.step import function

TABLE = Path(__file__).parent / "jinja_peer" / "cases.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A row of the table: see its head. ``want`` is the whole response."""

    name: str
    request: pb.RunFunctionRequest
    want: Object
    fatal: tuple[str, ...] = ()
    differs: str = ""
    directory: dict[str, str] = field(default_factory=dict)


def _case(row: Object) -> Case:
    request = _request(row)
    stated = dict(cast("Object", row.get("want") or {}))
    want: Object = {
        "meta": {"tag": gotemplating.TAG, "ttl": stated.pop("ttl", "60s")},
        **{part: request[part] for part in ("desired", "context") if part in request},
        **stated,
    }
    return Case(
        name=str(row["name"]),
        request=json_format.ParseDict(request, pb.RunFunctionRequest()),
        want=gotemplating.comparable(json_format.ParseDict(want, pb.RunFunctionResponse())),
        fatal=tuple(cast("list[str]", row.get("fatal", ()))),
        differs=str(row.get("differs", "")),
        directory=cast("dict[str, str]", row.get("directory", {})),
    )


def _request(row: Object) -> Object:
    state: Object = {"composite": {"resource": gotemplating.XR}}
    base: Object = {"meta": {"tag": gotemplating.TAG}, "observed": state, "desired": state}
    own = row.get("input", {})
    if own is not None:
        inline = {"inline": row["inline"]} if "inline" in row else {}
        head = {"apiVersion": builders.API_VERSION, "kind": "JinjaTemplate"}
        base["input"] = {**head, **inline, **cast("Object", own)}
    base |= cast("Object", row.get("request", {}))
    return {part: value for part, value in base.items() if value is not None}


CASES = [_case(row) for row in yaml.safe_load(TABLE.read_text())["cases"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, tmp_path: Path) -> None:
    """The response is the one of the table; a fatal one is the request, one result and no TTL."""
    for name, text in case.directory.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    limits = Limits(program_root=str(tmp_path))
    answer = function.handle(case.request.SerializeToString(), limits, lambda _: None)
    response = pb.RunFunctionResponse.FromString(answer.response)
    results = list(response.results)
    del response.results[:]
    if case.fatal:
        assert response.meta.ttl.ToSeconds() == 0
        response.meta.ttl.FromSeconds(60)
        (result,) = results
        assert result.severity == pb.SEVERITY_FATAL
        for text in case.fatal:
            assert text.lower() in result.message.lower()
    else:
        assert results == []
        if find_path(case.want, "meta.ttl") == "60s" and "60s" not in str(case.request):
            # That function's default; here it is by the cause.
            least = 60 if case.directory else 3240
            assert response.meta.ttl.ToSeconds() == 10 or response.meta.ttl.ToSeconds() >= least
            response.meta.ttl.FromSeconds(60)
    assert gotemplating.comparable(response) == case.want


def test_table_is_whole() -> None:
    """It has the cases of the other spelling, in their order."""
    assert [case.name for case in CASES] == [case.name for case in gotemplating.load()]


def test_differences_are_few_and_said() -> None:
    """Most cases are the same in both languages; each that is not says why."""
    assert len([case for case in CASES if case.differs]) <= 13
