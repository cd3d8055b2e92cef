import pytest
from support.library_calls import called

from function_script.engines.library import regex

# Results that Kubernetes objects in clusters are named after: they may NEVER change. A test that
# fails here means that an upgrade would rename, and so delete, what users run.
FROZEN = [
    ('dns1123("web")', "web"),
    ('dns1123("a--b-0")', "a--b-0"),
    ('dns1123("Web")', "web-29751047"),
    ('dns1123("---")', "cb3f91d5"),
    ('dns1123("a.b_c/d")', "a-b-c-d-0c0ef9f3"),
    ('dns1123("Größe")', "groe-aedc3f80"),
    ('dns1123("日本")', "cf2abf0c"),
    (f'dns1123("{"x" * 63}")', "x" * 63),
    (f'dns1123("{"x" * 64}")', "x" * 54 + "-7ce10097"),
    (f'dns1123("{"x" * 53}-y-{"x" * 20}")', "x" * 53 + "-d215ec62"),
    (f'dns1123("{"X" * 300}", 253)', "x" * 244 + "-bbd2c3dd"),
    (f'dns1123("{"x" * 30}", 20)', "xxxxxxxxxxx-666a596d"),
    (f'dns1123("{"x" * 253}", 253)', "x" * 253),
    ('child_name("xr", "bucket")', "xr-bucket"),
    ('child_name("xr", "my.bucket")', "xr-my-bucket-11e7f9b0"),
    (f'child_name("{"p" * 60}", "bucket")', "p" * 47 + "-bucket-34dfafff"),
    (
        f'child_name("xr", "{"n" * 70}")',
        "xr-nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn-689ab3ca",
    ),
    (f'child_name("{"p" * 70}", "{"n" * 70}")', "p" * 27 + "-nnnnnnnnnnnnnnnnnnnnnnnnnn-10ca87a3"),
    ('child_name("--", "bucket")', "bucket-b5ce1322"),
    ('slugify("Crème Brûlée 2.0")', "creme-brulee-2-0"),
    ('slugify("--- ---")', ""),
    (f'slugify("{"ab " * 30}", 20)', "ab-ab-ab-ab-ab-ab-ab"),
    ('label_value("")', ""),
    ('label_value("v1.2_A")', "v1.2_A"),
    ('label_value("a/b c")', "a-b-c-0af99a60"),
    (f'label_value("{"x" * 64}")', "x" * 54 + "-7ce10097"),
    ('stable_id("")', "2ad1ced5"),
    (
        'stable_id("password", 64)',
        "881f6df6abf677bc1a1f5503f6136a308bdf57785bd5cb122989a88ca4fd4dae",
    ),
    ('stable_secret("password", 8)', "shhQw1Jf"),
    ('stable_choice(["a", "b", "c"], "zone")', "a"),
    ('stable_choice([1, {"b": 1, "a": 2}], "x")', 1),
]


@pytest.mark.parametrize(("expression", "expected"), FROZEN)
def test_names_and_choices_are_frozen(expression: str, expected: object) -> None:
    assert called(expression) == expected


def test_choices_stay_when_others_come_and_go() -> None:
    """A stable choice depends neither on the order nor on what else is offered."""
    chosen = called('stable_choice(["a", "b", "c", "d"], "zone")')
    for choices in (["d", "c", "b", "a"], [chosen, "x", "y"], [chosen]):
        fewer = called(f'stable_choice({choices}, "zone")')
        assert fewer == chosen or fewer in {"x", "y"}
    assert called('stable_choice(["d", "c", "b", "a"], "zone")') == chosen


VALUES = [
    ("get({'a': None}, 'a', 1)", 1),
    ("get({'a': False}, 'a', 1)", False),
    ("get({'a.b': 2}, ['a.b'])", 2),
    ("get(None, 'a.b')", None),
    ("merge({'a': [1], 'b': 2}, {'a': [2], 'b': {'c': 1}})", {"a": [2], "b": {"c": 1}}),
    ("compact({'a': [None, {'b': None}]})", {"a": [None, {}]}),
    ("is_ready(None)", False),
    ("is_ready({'resource': {'status': {'conditions': [{'type': 'X', 'status': ''}]}}})", False),
    ("is_ready({'status': {'conditions': [{'type': 'X', 'status': 'True'}]}}, 'X')", True),
    ("is_ready({'status': {'conditions': [{'type': 'Ready', 'status': True}]}})", False),
    ("is_deleting({'metadata': {}})", False),
    ("unready_reason(None)", "does not exist yet"),
    ("unready_reason({})", "does not exist yet"),
    ("unready_reason({'apiVersion': 'v1', 'kind': 'ConfigMap'})", ""),
    ("unready_reason({'resource': {'kind': 'Bucket'}})", "has no condition Ready yet"),
    ("get_external_name(None)", None),
    ("get_label({'resource': {'metadata': {'labels': {'a/b.c': 'x'}}}}, 'a/b.c')", "x"),
    ("indent('a\\n\\nb\\n', 2, first=True)", "  a\n\n  b\n"),
    ("quote('a\"b\\\\c\\n\u00e9')", '"a\\"b\\\\c\\n\u00e9"'),
    ("quote(True)", '"true"'),
    ("truncate('h\u00e9llo', -2)", "lo"),
    ("from_json('[1.0, 1.5, 1e3, 12345678901234567890]')", [1, 1.5, 1000, 12345678901234567890]),
    ("b64decode('aGk')", "hi"),
    ("b64decode('aG\\nk=')", "hi"),
    ("b32decode('nbuq')", "hi"),
    ("url_unquote('a+b c')", "a+b c"),
    ("regex_find('abc', 'x')", None),
    ("regex_groups('abc', '(x)?b')", [None]),
    ("regex_groups('abc', '(x)b')", None),
    ("regex_replace('a1', '(?P<letter>[a-z])(x)?', '<${letter}$2$$>')", "<a$>1"),
    ("regex_replace('\u00e4b\u00fcb', 'b', '-')", "\u00e4-\u00fc-"),
    ("regex_split('', ',')", [""]),
    ("regex_find_all('ab', '')", ["", "", ""]),
    ("cidr_subnet('2001:db8::/32', 16, 255)", "2001:db8:ff::/48"),
    ("cidr_subnet('10.0.0.0/16', 8, -1)", "10.0.255.0/24"),
    ("cidr_subnets('10.0.0.0/24', [1, 2, 2])", ["10.0.0.0/25", "10.0.0.128/26", "10.0.0.192/26"]),
    ("cidr_contains('10.0.0.0/8', '10.2.0.0/16')", True),
    ("cidr_contains('10.0.0.0/16', '10.0.0.0/8')", False),
    ("cidr_contains('10.0.0.0/8', '::1')", False),
    ("cidr_host('2001:db8::/64', -1)", "2001:db8::ffff:ffff:ffff:ffff"),
    ("cidr_netmask('2001:db8::/64')", "ffff:ffff:ffff:ffff::"),
    ("duration_seconds('1h2m3.5s')", 3723.5),
    ("duration_seconds('-500ms')", -0.5),
    ("duration_seconds('0')", 0),
    ("quantity('500m')", 0.5),
    ("quantity('2Ki')", 2048),
    ("quantity('1e3')", 1000),
    ("quantity('1E')", 10**18),
    ("quantity('-.5')", -0.5),
]


@pytest.mark.parametrize(("expression", "expected"), VALUES)
def test_functions_give(expression: str, expected: object) -> None:
    result = called(expression)
    assert result == expected
    assert type(result) is type(expected)


ERRORS = [
    ("dns1123('')", "text: must not be empty"),
    ("dns1123('a', 5)", "max_length: must be between 18 and 253, not 5"),
    ("stable_id('a', 65)", "length: must be between 1 and 64"),
    ("stable_secret('a', 7)", "length: must be between 8 and 256"),
    ("stable_secret('a', 257)", "length: must be between 8 and 256"),
    ("stable_choice([])", "choices: there is nothing to choose from"),
    ("get({}, 'a..b')", "cannot read the path 'a..b' at character 2"),
    ("indent('a', 201)", "spaces: must be between 0 and 200"),
    ("b64decode('a!')", "the text is no base 64"),
    ("b64decode('_-')", "the text is no base 64"),
    ("b64decode('/w==')", "the decoded bytes are not UTF-8"),
    ("hex_decode('abc')", "the text is no hexadecimal"),
    ("from_json('{')", "invalid JSON: "),
    ("from_json('NaN')", "invalid JSON: "),
    ("regex_match('a', '(')", "pattern: missing ): ("),
    ("regex_match('a', '(a{1000}){1000}')", "pattern: invalid repetition size"),
    ("regex_match('a', '[a-z]{900}[a-z]{900}[a-z]{900}\\\\pL{900}')", "pattern: pattern too large"),
    ("regex_replace('a', 'a', '$1')", "replacement: the pattern has no group '1'"),
    ("cidr_subnet('10.0.0.1/16', 8, 0)", "cidr: 10.0.0.1/16 has host bits set"),
    ("cidr_subnet('10.0.0.0', 8, 0)", "cidr: '10.0.0.0' has no prefix length such as /16"),
    ("cidr_subnet('10.0.0.0/16', 17, 0)", "new_bits: must be between 0 and 16"),
    ("cidr_subnet('10.0.0.0/16', 8, 256)", "index: 10.0.0.0/16 has 256 such networks, 256 is none"),
    ("cidr_subnets('10.0.0.0/24', [1, 1, 1])", "10.0.0.0/24 has no room for network number 3"),
    ("cidr_host('10.0.0.0/24', 256)", "index: 10.0.0.0/24 has 256 addresses, 256 is none of them"),
    ("duration_seconds('5')", "invalid duration '5' (example: 1h30m)"),
    ("duration_seconds('٣s')", "invalid duration '٣s'"),
    ("duration_seconds('')", "invalid duration ''"),
    (f"duration_seconds('{'1s' * 101}')", "invalid duration '1s1s"),
    ("quantity('1KB')", "'1KB' is no quantity such as 500m or 1Gi"),
]


@pytest.mark.parametrize(("expression", "cause"), ERRORS)
def test_functions_refuse(expression: str, cause: str) -> None:
    with pytest.raises(ValueError) as caught:
        called(expression)
    name = expression.partition("(")[0]
    assert str(caught.value).startswith(f"cannot call {name}: {cause}")


@pytest.mark.parametrize("text", ["a.b", "a|b", "[x]{2}^$", "(a)*+?\\d", "-/ #"])
def test_escaped_text_matches_itself_only(text: str) -> None:
    pattern = f"^{regex.regex_escape(text)}$"
    assert regex.regex_match(text, pattern)
    assert not regex.regex_match(text + "x", pattern)


def test_expressions_that_stop_backtracking_engines_are_fast() -> None:
    """RE2 is linear: the classic catastrophe takes no time."""
    assert not regex.regex_match("a" * 50_000 + "b", "^(a+)+$")
