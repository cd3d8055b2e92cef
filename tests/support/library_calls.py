"""Call library functions by an expression, as a script would."""

import ast
from functools import partial

from function_script.engines import library
from function_script.engines.library import Call

# The seed the examples with stable choices are made with.
SEED = "seed"
CALLS: dict[str, Call] = {
    function.name: partial(function.call, SEED) if function.is_seeded else function.call
    for function in library.FUNCTIONS
}


def called(expression: str) -> object:
    """Evaluate an expression that calls the library with literals, as a script would."""
    call = ast.parse(expression, mode="eval").body
    return _value(call)


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        keywords = {str(keyword.arg): _value(keyword.value) for keyword in node.keywords}
        return CALLS[node.func.id](*map(_value, node.args), **keywords)  # type: ignore[arg-type] # literals
    return ast.literal_eval(node)
