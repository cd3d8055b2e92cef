"""What templates in Jinja render of one request, with its XR."""

from collections.abc import Mapping

from support import programs

from function_script.engines.jinja import engine as jinja
from function_script.request.limits import Limits
from function_script.request.program import Scope, TemplateResult
from function_script.request.values import Object, Readable

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XThing",
    "metadata": {"name": "demo"},
    "spec": {"count": 2, "zones": [{"name": "a"}, {"name": "b"}], "note": None},
}


def scope(**parts: Readable) -> Scope:
    """A scope with an XR, and these parts of the request."""
    observed = {"composite": {"resource": XR}, "resources": {}}
    request: dict[str, Readable] = {"observed": observed, "context": {}, **parts}
    return programs.scope({"color": "red"}, "uid", **request)


def rendered(text: str, modules: Mapping[str, str] | None = None, **options: str) -> TemplateResult:
    """The result of a template."""
    return jinja.evaluate(programs.program(text, modules, **options), scope(), Limits())


def text_of(text: str, modules: Mapping[str, str] | None = None, **options: str) -> str:
    """The text of a template."""
    return rendered(text, modules, **options).text
