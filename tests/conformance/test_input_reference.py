"""The input CRDs and their page are what their tables give."""

import pytest
import yaml
from generate import input_crds, inputs_page
from support import generated
from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "inputs.md"
CRDS = ROOT / "input_crds"
TEXTS = input_crds.texts()
TOY = ROOT / "tests" / "support" / "toy_language" / "crd.yaml"


@pytest.mark.parametrize("name", TEXTS)
def test_crd_is_fresh(name: str, *, update_goldens: bool) -> None:
    """Each file of input_crds/ has the common fields and those of its kind."""
    generated.check(CRDS / name, TEXTS[name], update=update_goldens)


def test_crd_is_generated() -> None:
    """There is no other file, and no placeholder is left."""
    assert sorted(TEXTS) == sorted(path.name for path in CRDS.iterdir())
    assert [name for name, text in TEXTS.items() if "<<" in text] == []


def test_inputs_page_is_fresh(*, update_goldens: bool) -> None:
    """docs/reference/inputs.md says what the CRDs say."""
    page = inputs_page.reference(input_crds.values())
    generated.check(PAGE, page, update=update_goldens)


def test_page_has_a_kind_whose_program_is_several_texts() -> None:
    """Such a kind has no default file, and the other kinds keep theirs."""
    (toy,) = map(yaml.safe_load, input_crds.texts(TOY.read_text()).values())
    page = inputs_page.reference([*input_crds.values(), toy])
    assert "## ToySheet" in page
    assert "`main.star` or `main.j2` or `main.gotmpl`." in page
