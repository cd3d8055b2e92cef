"""For every text that the fast path reads, `kubernetes_yaml` reads the same value."""

from hypothesis import example, given
from hypothesis import strategies as st
from support.example_counts import examples

from function_script.documents import to_yaml
from function_script.documents.fast_path import parse_simple
from function_script.documents.kubernetes_yaml import parse

NODES, DEPTH = 30, 6
PLAIN = st.sampled_from(
    [
        *(
            "x",
            "x y",
            "1",
            "-1.5",
            "yes",
            "null",
            "http://x/?a=b",
            "{}",
            "[]",
            '"x"',
            "x ",
            "1 # x",
        ),
        *("|\nx\n  y", "|-\nx\n\n# y", "| # x\nx: y", "|\nx\n\n"),
    ]
)
TRICKY = st.sampled_from(
    [
        *("", "x", "x y", "x  y", "1", "-1", "01", "1_000", "1e3", ".5", ".inf", "0x1F", "yes"),
        *("null", "~", "true", "x:y", "x: y", "x #y", "x#y", "x ", "x:", "http://x/?a=b", "- x"),
        *("2026-01-01", "12:30:45", "{}", "[]", "{a: 1}", "&x 1", "*x", "!t x", "| ", "|", "@x"),
        *(
            '"x y"',
            "'x'",
            '"x',
            '"a\\n"',
            "'a''b'",
            '"x" y',
            "# note",
            "%x",
            "x,y",
            "a\u00e9",
            "x\t",
        ),
        *(
            "| # x",
            "|-",
            "|+",
            "|2",
            ">",
            ">-",
            '"x" # y',
            "{} # x",
            "[] ",
            "x # y",
            "   x",
            "    ",
        ),
        *("---", "...", "--- x", "=", "?", "? x", ",", "(x)", "-.5", "-x", "+1", "x\r", "y", "n"),
    ]
)
KEYS = [*["a", "b", "c.d/e-f", "x_1"] * 5, "on"]
TREES = st.recursive(
    PLAIN,
    lambda below: (
        st.lists(below, min_size=1, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), below, min_size=1, max_size=3)
    ),
    max_leaves=8,
)
ROOTS = st.dictionaries(st.sampled_from(KEYS), TREES, min_size=1, max_size=3)
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.sampled_from(["value", "indent", "dedent", "drop", "repeat", "insert", "key"]),
        TRICKY,
    ),
    max_size=2,
)


def to_lines(tree: object, indent: str, shift: str) -> list[str]:
    """Return the lines of a tree; lists are indented by ``shift`` below their keys."""
    lines: list[str] = []
    if isinstance(tree, dict):
        for key, below in tree.items():
            if isinstance(below, str):
                first, *others = below.split("\n")
                lines += [f"{indent}{key}: {first}", *(f"{indent}  {line}" for line in others)]
            else:
                deeper = indent + (shift if isinstance(below, list) else "  ")
                lines += [f"{indent}{key}:", *to_lines(below, deeper, shift)]
    for item in tree if isinstance(tree, list) else ():
        if isinstance(item, str):
            first, *others = item.split("\n")
            lines += [f"{indent}- {first}", *(f"{indent}  {line}" for line in others)]
        else:
            first, *others = to_lines(item, indent + "  ", shift)
            lines += [f"{indent}- {first.lstrip()}", *others]
    return lines


def changed(lines: list[str], changes: list[tuple[int, str, str]]) -> str:
    """Return the lines with a few changes."""
    for number, change, text in changes:
        index = number % len(lines)
        line = lines[index]
        lines[index : index + 1] = {
            "value": [f"{line.rpartition(' ')[0]} {text}"],
            "indent": [f" {line}"],
            "dedent": [line.removeprefix("  ")],
            "drop": ["# dropped"],
            "repeat": [line, line],
            "insert": [line, text],
            "key": [line.replace(":", f"{text}:", 1)],
        }[change]
    return "\n".join(lines) + "\n"


TEXTS = st.builds(
    lambda root, shift, changes: changed(to_lines(root, "", shift), changes),
    ROOTS,
    st.sampled_from(["", "  "]),
    CHANGES,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**7) | st.floats(-5, 5) | st.text(max_size=4),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "bc", "d.e/f", "on"]), below, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["a", "bc", "d.e/f"]), VALUES, min_size=1, max_size=3)


def check(text: str) -> bool:
    """Report whether the fast path reads the text; fail if the other reader differs."""
    document = parse_simple(text, nodes=NODES, depth=DEPTH)
    if document is not None:
        expected = parse(text, nodes=NODES, depth=DEPTH)
        assert document == expected
        assert expected is not None
        assert repr(document.value) == repr(expected.value)  # 1, 1.0 and True are equal
    return document is not None


@given(TEXTS)
@examples(200)
@example("a:\n- x\nb: 1\n")
@example("a:\n- b:\n  - c: 1\n    d: 2\n  e: 3\n- f\n")
@example("a:\n\n  # note\n  b:\nc:\n")
@example("a: |\n  x\n   \n y: 1\n")
@example("a: |\n  x\n # note\nb: 1\n")
@example("a: |-\n  x")
@example("a: |\n    x\n   # note\n")
@example("a: |\n\n  x\n")
@example("a: |\n  x\n     \n  ")
@example("- a: |\n   x\n")
@example("a:\n- b: |\n   x\n  c: d\n")
def test_fast_path_equals_kubernetes_yaml_for_odd_lines(text: str) -> None:
    check(text)


@given(OBJECTS)
@examples(75)
def test_fast_path_equals_kubernetes_yaml_for_written_values(value: dict[str, object]) -> None:
    check(to_yaml(value))


def test_fast_path_reads_a_common_manifest() -> None:
    assert check(
        "# a bucket\napiVersion: v1\nkind: Bucket\nmetadata:\n  labels:\n    team: 'storage'\n\n"
        "  annotations: {}\nspec:\n  count: 3\n  url: https://example.org/x?y=z\n  rules:\n"
        '  - host: "*.example.org"\n    ports:\n    - 80\n    - 443\n  - host: other\n  empty:\n'
        "  script: |\n    #!/bin/sh\n    if true; then\n      echo\n\n    fi\n"
        '  labels: \n    size: "1" # small\n  text: |-\n    x: y\n'
    )


def test_fast_path_beyond_limits_returns_none() -> None:
    """The other reader reports which limit it is, and where."""
    assert parse_simple("a: 1\nb: 2\n", nodes=2, depth=9) is None
    assert parse_simple("a:\n  b: 2\n", nodes=9, depth=1) is None
    assert parse_simple("a: {}\n", nodes=9, depth=1) is None
