import pytest
from support.timing import taking_less
from support.validate_helpers import obj

from function_script.request.values import Object, Value
from function_script.tools.validate import formats, openapi

INT_OR_STRING: Object = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}


PROBLEMS = {
    "type": (
        {"type": "integer"},
        "ten",
        'a: Invalid value: "string": a in body must be of type integer: "string"',
    ),
    "list-is-array": (
        {"type": "string"},
        ["x"],
        'a: Invalid value: "array": a in body must be of type string: "array"',
    ),
    "null": (
        {"type": "string"},
        None,
        'a: Invalid value: "null": a in body must be of type string: "null"',
    ),
    "enum": (
        {"type": "string", "enum": ["s", "m"]},
        "xl",
        'a: Unsupported value: "xl": supported values: "s", "m"',
    ),
    "required": (obj() | {"required": ["b"]}, {}, "a.b: Required value"),
    "required-without-quotes": (obj() | {"required": [True]}, {}, "a.true: Required value"),
    "minimum": (
        {"type": "integer", "minimum": 1},
        0,
        "a: Invalid value: 0: a in body should be greater than or equal to 1",
    ),
    "exclusive-maximum": (
        {"type": "number", "maximum": 1.5, "exclusiveMaximum": True},
        1.5,
        "a: Invalid value: 1.5: a in body should be less than 1.5",
    ),
    "pattern": (
        {"type": "string", "pattern": "^[a-z]+$"},
        "A",
        "a: Invalid value: \"A\": a in body should match '^[a-z]+$'",
    ),
    "a-pattern-s-end-is-the-text-s": (
        {"type": "string", "pattern": "^[a-z]+$"},
        "a\n",
        "a: Invalid value: \"a\\n\": a in body should match '^[a-z]+$'",
    ),
    "length": (
        {"type": "string", "maxLength": 3},
        "long",
        "a: Too long: may not be more than 3 bytes",
    ),
    "items": (
        {"type": "array", "minItems": 1},
        [],
        "a: Invalid value: 0: a in body should have at least 1 items",
    ),
    "format": (
        {"type": "string", "format": "date-time"},
        "yesterday",
        'a: Invalid value: "yesterday": a in body must be of type date-time: "yesterday"',
    ),
    "int-or-string": (
        {"x-kubernetes-int-or-string": True},
        [],
        'a: Invalid value: "array": a in body must be of type integer,string: "array"',
    ),
    "not": (
        {"not": {"required": ["x"]}},
        {"x": 1},
        '<nil>: Invalid value: "": "a" must not validate the schema (not)',
    ),
    "one-of": (
        {"oneOf": [{"required": ["x"]}, {"required": ["y"]}]},
        {"x": 1, "y": 1},
        (
            '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). '
            "Found 2 valid alternatives"
        ),
    ),
    "unique": (
        {"type": "array", "uniqueItems": True},
        [1, 1.0],
        'a: Invalid value: "": a in body shouldn\'t contain duplicates',
    ),
    "item-of-a-set": (
        {"type": "array", "x-kubernetes-list-type": "set"},
        ["x", 1, "1", "x"],
        'a[3]: Duplicate value: "x"',
    ),
    "keys-of-a-map": (
        {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["x"],
        },
        [{"x": 1, "y": 1}, {"x": 2}, {"x": 1, "y": 2}],
        'a[2]: Duplicate value: {"x":1}',
    ),
    "too-many": (
        {"type": "array", "maxItems": 1},
        [1, True],
        "a: Too many: 2: must have at most 1 item",
    ),
    "closed": (
        {"additionalProperties": False},
        {"x": 1},
        'a: Invalid value: "x": a.x in body is a forbidden property',
    ),
    "numbers-as-go-prints-them": (
        {"type": "integer", "multipleOf": 3},
        4_000_000,
        "a: Invalid value: 4e+06: a in body should be a multiple of 3",
    ),
    "enum-of-other-types": (
        {"enum": [1, True]},
        {"b": []},
        'a: Unsupported value: {"b":[]}: supported values: "1", "true"',
    ),
    "pattern-that-is-none": (
        {"type": "string", "pattern": "["},
        "x",
        (
            'a: Invalid value: "x": a in body should match \'[, but pattern is invalid: '
            "pattern: missing ]: ['"
        ),
    ),
    "type-that-is-none": (
        {"type": "strng"},
        "x",
        'a: Invalid value: "string": a in body must be of type strng: "string"',
    ),
    "embedded-objects-have-a-kind": (
        {"type": "object", "x-kubernetes-embedded-resource": True},
        {"apiVersion": "v1"},
        "a.kind: Required value",
    ),
}


@pytest.mark.parametrize(("schema", "value", "message"), PROBLEMS.values(), ids=PROBLEMS)
def test_problems_are_worded_as_the_api_server_does(
    schema: Object, value: Value, message: str
) -> None:
    result = openapi.check({"a": value}, obj(a=schema))[0]
    assert [problem.message for problem in result] == [message]
    assert message.startswith(f"{result[0].field}: ")


ALLOWED = {
    "nullable": ({"type": "string", "nullable": True}, None),
    "a-whole-number-is-an-integer": ({"type": "integer"}, 3.0),
    "integer": (INT_OR_STRING, 3),
    "string": (INT_OR_STRING, "30%"),
    "nullable-either": (INT_OR_STRING | {"nullable": True, "anyOf": []}, None),
    "other-format": ({"type": "string", "format": "unheard-of"}, "x"),
    "formats-of-numbers": ({"type": "integer", "format": "int32"}, 2**40),
    "long-pattern": ({"type": "string", "pattern": "^(" + "a?" * 600 + ")$"}, "a"),
    "any": ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {}),
}


@pytest.mark.parametrize(("schema", "value"), ALLOWED.values(), ids=ALLOWED)
def test_kubernetes_ideas_are_honoured(schema: Object, value: Value) -> None:
    """Differences from JSON Schema follow the API server."""
    schema = {key: part for key, part in schema.items() if part != []}
    assert openapi.check({"a": value}, obj(a=schema))[0] == []


SEVERAL = {
    "type-and-enum": (
        {"type": "string", "enum": ["s"]},
        1,
        [
            'a: Invalid value: "number": a in body must be of type string: "number"',
            'a: Unsupported value: 1: supported values: "s"',
        ],
    ),
    "fraction": (
        {"type": "integer"},
        2.5,
        [
            'a: Invalid value: "number": a in body must be of type integer: "number"',
            (
                '<nil>: Invalid value: "": Checked value must be of type integer (default format) '
                "in a"
            ),
        ],
    ),
    "any-of": (
        INT_OR_STRING,
        [],
        [
            'a: Invalid value: "array": a in body must be of type integer,string: "array"',
            '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
            'a: Invalid value: "array": a in body must be of type integer: "array"',
        ],
    ),
    "the-alternative-with-the-most-checks-is-told-about": (
        {"oneOf": [{"required": ["x"]}, {"properties": {"y": {"type": "string"}}}]},
        {"y": 1},
        [
            (
                '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). '
                "Found none valid"
            ),
            'a.y: Invalid value: "number": a.y in body must be of type string: "number"',
        ],
    ),
    "all-of": (
        {"allOf": [{"required": ["x"]}, {"required": ["y"]}]},
        {"x": 1},
        [
            "a.y: Required value",
            '<nil>: Invalid value: "": "a" must validate all the schemas (allOf)',
        ],
    ),
}


@pytest.mark.parametrize(("schema", "value", "messages"), SEVERAL.values(), ids=SEVERAL)
def test_value_may_have_several_problems(schema: Object, value: Value, messages: list[str]) -> None:
    result = openapi.check({"a": value}, obj(a=schema))[0]
    assert [problem.message for problem in result] == messages


def test_hint_of_a_fraction_says_how_to_divide() -> None:
    problem, *_ = openapi.check({"a": 2.5}, obj(a={"type": "integer"}))[0]
    assert "//" in (problem.hint or "")


def test_keywords_of_a_wrong_type_count_as_absent() -> None:
    """A schema that says nonsense refuses nothing by it."""
    nonsense: Object = {
        **dict.fromkeys(("minimum", "maxLength", "multipleOf", "minItems"), "x"),
        **dict.fromkeys(("required", "enum", "oneOf", "items", "properties", "not"), 1),
        **dict.fromkeys(("pattern", "format", "type"), 2),
    }
    values: list[Value] = [1, "x", [1], {"x": 1}, True]
    assert [openapi.check({"a": value}, obj(a=nonsense))[0] for value in values] == [[]] * 5


def test_problems_come_in_the_order_of_fields() -> None:
    schema = obj(b={"type": "string"}, a=obj(x={"type": "string"})) | {"required": ["c"]}
    result = openapi.check({"b": 1, "a": {"x": 2}}, schema)[0]
    assert [problem.field for problem in result] == ["a.x", "b", "c"]


FORMATS = [
    ("date-time", "2026-01-02T03:04:05Z", "2026-13-02T03:04:05Z"),
    ("date-time", "2026-01-02T03:04:05.5+01:00", "2026-01-02"),
    ("date", "2026-01-02", "02.01.2026"),
    ("duration", "1m30s", "60"),
    ("byte", "aGk=", "a"),
    ("ipv4", "10.0.0.1", "10.0.0.256"),
    ("ipv6", "::1", "10.0.0.1"),
    ("cidr", "10.0.0.0/8", "10.0.0.0/40"),
    ("uuid", "60aa46dc-5505-53e4-a362-4d602bb8f73e", "60aa46dc"),
    ("hostname", "a.example.org", "-a.example.org"),
    ("ipv6", "::1", "fe80::1%eth0"),
    ("cidr", "10.0.0.0/8", "10.0.0.0"),
    ("date-time", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05Z"),
    ("datetime", "2026-01-02t03:04:05z", "2026-01-02T24:00:00Z"),
    ("duration", "1 day", "soon"),
    ("uuid4", "60aa46dc-5505-43e4-a362-4d602bb8f73e", "60aa46dc-5505-53e4-a362-4d602bb8f73e"),
    ("uri", "https://example.org/x", "example"),
    ("email", "a@example.org", "a"),
    ("mac", "01:23:45:67:89:ab", "01:23"),
    ("hexcolor", "#ffcc00", "#ffcc0"),
    ("rgbcolor", "rgb(1, 20, 255)", "rgb(1, 20, 256)"),
    ("k8s-short-name", "a-1", "A"),
    ("k8s-long-name", "a.b", "a..b"),
]


@pytest.mark.parametrize(("name", "good", "bad"), FORMATS)
def test_formats(name: str, good: str, bad: str) -> None:
    assert formats.is_known(name)
    assert formats.is_valid(good, name)
    assert not formats.is_valid(bad, name)


LONG = "^(" + "|".join(f"name{number}" for number in range(300)) + ")$"
UNBOUNDED = {
    "long pattern": ("a" * 200_000, "x"),
    "long text": (LONG, "x" * 1_000_000),
    "repeated": ("((a{100}){100}){100}", "x"),
    "large": ("(" + "[\\pL\\pN]{900}|" * 60 + "x)", "x"),
}


@pytest.mark.parametrize("text", ["name7", "nobody"])
def test_long_pattern_is_evaluated_in_linear_time(text: str) -> None:
    """RE2 evaluates it as every other: a list of names has thousands of characters."""
    result, unevaluated = openapi.check({"a": text}, obj(a={"type": "string", "pattern": LONG}))
    assert (len(result), unevaluated) == (int(text == "nobody"), [])


@pytest.mark.parametrize("pattern", [f"{'(x+x+)+' * 200}y", f"^(a|a)*{'b?' * 600}$"])
def test_patterns_never_backtrack(pattern: str) -> None:
    """A pattern that is exponential in Python's re takes linear time."""
    with taking_less(2):
        openapi.check(
            {"a": "x" * 5_000 + "a" * 5_000}, obj(a={"type": "string", "pattern": pattern})
        )


LONG_LISTS = {
    "enum": ({"type": "string", "enum": [f"v{number}" for number in range(10_000)]}, "v9999", 0),
    "problems": ({"type": "integer"}, "x", 5_000),
}


@pytest.mark.parametrize(("schema", "item", "count"), LONG_LISTS.values(), ids=LONG_LISTS)
def test_long_lists_take_linear_time(schema: Object, item: str, count: int) -> None:
    with taking_less(1):
        problems, _ = openapi.check(
            {"a": [item] * 5_000}, obj(a={"type": "array", "items": schema})
        )
    assert len(problems) == count


def test_long_digits_are_no_duration_at_once() -> None:
    with taking_less(1):
        assert not formats.is_valid("1" * 100_000, "duration")


@pytest.mark.parametrize(("pattern", "text"), UNBOUNDED.values(), ids=UNBOUNDED)
def test_pattern_beyond_the_bounds_is_not_evaluated(pattern: str, text: str) -> None:
    """It says so, or that it is invalid, and nothing is called valid by it."""
    schema = obj(a={"type": "string", "pattern": pattern})
    result, unevaluated = openapi.check({"a": text}, schema)
    assert len(result) + len(unevaluated) == 1
    for one in unevaluated:
        assert (one.type, one.field, one.rule) == ("pattern", "a", pattern)


@pytest.mark.parametrize("keyword", ["not", "oneOf", "anyOf", "allOf"])
def test_alternatives_are_not_decided_by_what_was_not_evaluated(keyword: str) -> None:
    """A pattern that was not evaluated refuses nothing."""
    huge: Object = {"pattern": "a" * 200_000}
    schema = obj(a={"type": "string", keyword: huge if keyword == "not" else [huge, {}]})
    result, unevaluated = openapi.check({"a": "x"}, schema)
    assert (result, [one.field for one in unevaluated]) == ([], ["a"])
