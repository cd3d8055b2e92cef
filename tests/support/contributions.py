"""Read contributions from the values of scripts and the texts of templates."""

from support.builders import XR

from function_script import contribution
from function_script.contribution import Contribution
from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.request.program import Scope, ScriptResult, TemplateResult
from function_script.request.values import Object
from function_script.texts.source import Span

META = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: "
SCOPE = Scope(request=Lazy({"observed": lambda: {"composite": {"resource": XR}}}))


def read_response(value: Object) -> Contribution:
    """Read the value that a script returned."""
    return contribution.read(ScriptResult(value=value), SCOPE, Limits())


def read_text(text: str) -> Contribution:
    """Read a rendered text, whose line N is rendered by line N of the template ``inline``."""
    result = TemplateResult(text=text, locate=lambda line: Span(name="inline", line=line))
    return contribution.read(result, SCOPE, Limits())
