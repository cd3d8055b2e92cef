"""Programs and scopes for the tests of JinjaTemplate."""

from collections.abc import Mapping

from function_script.engines.jinja import engine as jinja
from function_script.request.limits import Limits
from function_script.request.program import Lazy, Program, Scope, TemplateResult
from function_script.request.values import Object, Readable
from function_script.texts.source import Source

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XThing",
    "metadata": {"name": "demo"},
    "spec": {"count": 2, "zones": [{"name": "a"}, {"name": "b"}], "note": None},
}


def program(text: str, modules: Mapping[str, str] | None = None, **options: str) -> Program:
    """A template with modules."""
    items = (modules or {}).items()
    return Program(
        main=Source(name="inline", text=text),
        modules={name: Source(name=f"modules[{name}]", text=body) for name, body in items},
        options=options,
    )


def scope(**parts: Readable) -> Scope:
    """A scope with an XR, and these parts of the request."""
    observed = {"composite": {"resource": XR}, "resources": {}}
    request: dict[str, Readable] = {"observed": observed, "context": {}, **parts}
    return Scope(
        request=Lazy({name: lambda value=value: value for name, value in request.items()}),
        params={"color": "red"},
        uid="uid",
        seed="uid",
    )


def rendered(text: str, modules: Mapping[str, str] | None = None, **options: str) -> TemplateResult:
    """The result of a template."""
    return jinja.evaluate(program(text, modules, **options), scope(), Limits())


def text_of(text: str, modules: Mapping[str, str] | None = None, **options: str) -> str:
    """The text of a template."""
    return rendered(text, modules, **options).text
