"""sprig as a whole: its list of names, what is refused, what is drawn, and where it is not Go's."""

import base64
import re

import pytest
from support import programs

from function_script.engines.gotemplate import engine as gotemplate
from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.plain import GoFailure, render_text
from function_script.request.limits import Limits
from function_script.texts.diagnostics import Diagnostic

# The functions whose values are drawn from the seed of a step.
DRAWS = re.findall(
    r"\w+", "randAlpha randAlphaNum randAscii randBytes randInt randNumeric shuffle uuidv4"
)

REFUSED = re.findall(
    r"\w+",
    """
env expandenv getHostByName bcrypt htpasswd genPrivateKey genCA genCAWithKey genSelfSignedCert
genSelfSignedCertWithKey genSignedCert genSignedCertWithKey
""",
)

CHANGING = {"merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite", "set", "unset"}


def _refusal(name: str) -> Diagnostic:
    return programs.refusal(gotemplate, programs.program(f"{{{{ {name} }}}}"))


def _draw(expression: str, seed: str = "uid-1") -> str:
    program = programs.program(f"{{{{ {expression} }}}}", stable_values=True)
    return gotemplate.evaluate(program, programs.scope(seed=seed), Limits()).text


# The list


def test_unavailable_functions_are_exactly_these() -> None:
    """The environment, the network, and functions with random keys or salts."""
    assert sorted(registry.UNAVAILABLE) == sorted(REFUSED)


@pytest.mark.parametrize(("name", "refusal"), registry.UNAVAILABLE.items())
def test_unavailable_function_has_an_alternative(name: str, refusal: str) -> None:
    reason, _, instead = refusal.partition(": ")
    assert reason
    assert instead
    diagnostic = _refusal(name)
    assert refusal in f"{diagnostic.message} {diagnostic.hint} {diagnostic.notes}"


def test_mutating_functions_are_exactly_these() -> None:
    """The engine copies a request only for templates that call one of these."""
    changing = {function.name for function in registry.SPRIG if function.mutates}
    assert changing == CHANGING


def test_optional_functions_are_exactly_these() -> None:
    """Random values, the clock and functions on secrets are off unless a step enables them."""
    options = {f.name: f.option for f in registry.SPRIG if f.option}
    secrets = ("derivePassword", "encryptAES", "decryptAES", "buildCustomCert")
    stable = dict.fromkeys((*DRAWS, "now", "ago"), "stable_values")
    assert options == {**stable, **dict.fromkeys(secrets, "crypto")}


# Draws

SHAPES = [
    pytest.param("randAlphaNum 40", "[0-9A-Za-z]{40}", id="letters and digits"),
    pytest.param("randAlpha 40", "[A-Za-z]{40}", id="letters"),
    pytest.param("randNumeric 40", "[0-9]{40}", id="digits"),
    pytest.param("randAscii 40", "[ -~]{40}", id="all that can be printed"),
    pytest.param("randInt 5 9", "[5-8]", id="the upper bound is not reached"),
    pytest.param("randAlpha -1", "", id="less than nothing is nothing"),
    pytest.param(
        "uuidv4", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", id="a UUID"
    ),
]


@pytest.mark.parametrize(("expression", "shape"), SHAPES)
def test_random_values_have_the_shape_of_gos(expression: str, shape: str) -> None:
    """Only the value differs from Go's, which changes, too."""
    assert re.fullmatch(shape, _draw(expression))


def test_random_bytes_are_base64() -> None:
    assert len(base64.b64decode(_draw("randBytes 20"), validate=True)) == 20


def test_shuffling_keeps_the_characters() -> None:
    text = "abcdefghijklmnopqrstuvwxyzé"
    shuffled = _draw(f'shuffle "{text}"')
    assert shuffled != text
    assert sorted(shuffled) == sorted(text)


def test_random_values_need_their_option() -> None:
    """The error says that the value would be stable, and names the option."""
    assert "stableValues" in str(_refusal("randAlpha 3"))


def test_keys_and_values_are_sorted() -> None:
    """Go returns them in any order; here a template renders the same every time."""
    data = {"m": {"b": 1, "a": 2, "é": 3, "B": 4}}
    assert render_text("{{ keys .m }} {{ values .m }}", data) == "[B a b é] [4 2 1 3]"


def test_copies_of_versions_are_versions() -> None:
    """In Go deepCopy of a version loses it and returns 0.0.0."""
    assert render_text('{{ deepCopy (semver "1.2.3") }}', {}) == "1.2.3"


_CLOCK = "there is no current time"
_YEAR = "the year is out of range, which is 0 to 9999"


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        # Go panics here.
        pytest.param("randInt 3 3", "error calling randInt: invalid argument to Intn", id="range"),
        # Functions that fall back to the clock in sprig fail here.
        pytest.param('date "2006" "2024-05-06"', _CLOCK, id="a text is no date"),
        pytest.param("htmlDate nil", _CLOCK, id="nil is no date"),
        pytest.param("htmlDate 1.5", _CLOCK, id="a float is no date"),
        pytest.param('dateInZone "2006" (list) "UTC"', _CLOCK, id="a list is no date"),
        pytest.param(
            'htmlDate (getResourceCondition "Ready" nil).LastTransitionTime', _CLOCK, id="a wrapper"
        ),
        # The years 0 to 9999 are those that Go's layouts can read.
        pytest.param('date "2006" 999999999999999', _YEAR, id="seconds"),
        pytest.param('dateModify "48h" (toDate "2006-01-02" "9999-12-31")', _YEAR, id="moved"),
        # Go does this, and no public template uses it.
        pytest.param('printf "%#v" "a"', "%#v is not supported", id="a value in Go's syntax"),
        pytest.param('printf "%b" 1.5', "%b of a number with a fraction", id="bits"),
        pytest.param('printf "%#x" 5', "%#x is not supported", id="a prefix"),
        pytest.param('printf "%U" 5', "write U+%04X", id="a code point"),
        pytest.param('printf "%q" 5', "write %c", id="a quoted character"),
        pytest.param('printf "%+q" "a"', "write %q", id="a quoted text of ASCII"),
        pytest.param('printf "% x" "a"', "write %x", id="bytes with blanks"),
        pytest.param('printf "%p" (list 1)', "%p is not supported: write %v", id="an address"),
        pytest.param('printf "%d" (semver "1.2.3")', "%d of a *semver.Version", id="hidden fields"),
        pytest.param('printf "%[2]d" 1', "%[2]d has no index of one of 1 values", id="index"),
        pytest.param('printf "%[1]5d" 1', "%[1]5 has no index", id="width behind an index"),
        pytest.param('printf "%*d" 5 1', "a width or precision of", id="width of an argument"),
        pytest.param("round 1.5 400", "wants at most 22 digits, got 400", id="digits"),
        pytest.param('maxf 1 (float64 "nan")', "NaN has no order", id="NaN"),
        pytest.param("chunk 0 (list 1)", "wants at least 1 item in a list, got 0", id="chunk"),
    ],
)
def test_expression_that_has_no_value_here_is_an_error(expression: str, error: str) -> None:
    with pytest.raises(GoFailure, match=re.escape(error)):
        render_text(f"{{{{ {expression} }}}}", {})


def test_bytes_of_no_character_stay_in_javascript() -> None:
    assert render_text(r'{{ js "<\xff" | b64enc }}', {}) == "XHUwMDND/w=="
