import ast

from generate.library_page import reference, stubs
from support import generated
from support.paths import ROOT

from function_script.engines import library

PAGE = ROOT / "docs" / "reference" / "library.md"


def test_page_is_fresh(update_goldens: bool) -> None:
    generated.check(PAGE, reference(), update=update_goldens)


def test_page_has_every_function() -> None:
    page = reference()
    for function in library.FUNCTIONS:
        assert page.count(f"- **`{function.signature.usage}`**") == 1
        assert f"`{function.example}`" in page


def test_stubs_are_python_with_every_function() -> None:
    definitions = [node for node in ast.parse(stubs()).body if isinstance(node, ast.FunctionDef)]
    assert [each.name for each in definitions] == [each.name for each in library.FUNCTIONS]
    for stub, function in zip(definitions, library.FUNCTIONS, strict=True):
        names = [argument.arg for argument in (*stub.args.args, *stub.args.kwonlyargs)]
        assert names == [parameter.rule.name for parameter in function.parameters]
        assert (ast.get_docstring(stub) or "").startswith(function.summary)
