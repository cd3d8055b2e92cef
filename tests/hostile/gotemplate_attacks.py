"""The table of hostile templates in Go's syntax, by what they attack.

Where Go's templates have nothing of a kind, a row says what becomes of the nearest attempt.
"""

from collections.abc import Sequence
from itertools import pairwise

from hostile.cases import Attack

STRING, LIST, WIDTH = "a string of", "a list of", "padding"
UNKNOWN, FIELD = "not defined", "it has no field"


def _numbered(rows: Sequence[tuple[str, str] | tuple[str, str, bool]]) -> list[Attack]:
    return [Attack(f"{number:03}", *row) for number, row in enumerate(rows)]


def _nested(left: str, right: str, count: int, inner: str = "") -> str:
    return left * count + inner + right * count


_LOOP = "{{ range 100000 }}{{ range 100000 }}"
_ENDS = "{{ end }}{{ end }}"
_DOUBLED = "{{ $x := %s }}{{ range 60 }}{{ $x = %s }}{{ end }}{{ len $x }}"
_TREE = (
    '{{ define "f" }}{{ if . }}{{ template "f" (sub . 1) }}{{ template "f" (sub . 1) }}{{ end }}'
    '{{ end }}{{ template "f" 60 }}'
)
_RECURSIVE = (
    '{{ define "a" }}{{ range . }}{{ include "a" (list (list)) }}{{ end }}{{ end }}'
    '{{ include "a" (list (list)) }}'
)
_SEARCH = '{{ $a := repeat 200000 "a" }}{{ range until 99999 }}{{ $_ := contains "b" $a }}{{ end }}'
_SPEC = ".observed.composite.resource.spec"

_BIG = '{{ $x := repeat 1000000 "x" }}'
# Values that are small in memory: one with 2**60 parts when it is walked, one without an end.
_SHARED = "{{ $x := list 0 }}{{ range 60 }}{{ $x = list $x $x }}{{ end }}"
_ENDLESS = '{{ $x := dict }}{{ $_ := set $x "self" $x }}'
_ALIASES = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{key}: &{key} [{','.join([f'*{before}'] * 10)}]\n" for before, key in pairwise("abcdefg")
)
_ENTRIES = (
    "{{ $d := dict }}{{ range $i := 1000 }}{{ range $j := 1000 }}"
    f'{{{{ $_ := set $d (print $i "-" $j) (repeat 60 "x") }}}}{_ENDS}'
)

ATTACKS = _numbered(
    [
        # Python's own names: fields like any other, which text has not.
        (FIELD, '{{ $s := "" }}{{ $s.__class__ }}'),
        (UNKNOWN, '{{ attr "" "__class__" }}'),
        ("{0.__class__}%!(EXTRA string=)", '{{ printf "{0.__class__}" "" }}', True),
        ("{a.__class__}%!(EXTRA int=1)", '{{ printf "{a.__class__}" 1 }}', True),
        ("wrong number of args", "{{ $f := printf }}{{ range list 1 }}{{ $f . }}{{ end }}"),
        ("can't give argument to non-function", '{{ $f := "{0}" }}{{ $f "" }}'),
        (FIELD, '{{ range list "" }}{{ .__class__ }}{{ end }}'),
        ("can't handle", '{{ pluck "__class__" "" }}'),
        (FIELD, "{{ print.__globals__ }}"),
        ("<no value>", "{{ (dict).__init__.__globals__ }}", True),
        ("<no value>", "{{ ._TemplateReference__context }}", True),
        ("map[]", "{{ .params }}", True),
        ("wrong number of args", "{{ printf.__code__ }}"),
        ("wrong number of args", "{{ index }}{{ print len }}"),
        (FIELD, '{{ define "m" }}{{ end }}{{ (include "m" .)._func }}'),
        (
            "<no value>",
            '{{ define "m" }}{{ .caller.__class__ }}{{ end }}{{ template "m" . }}',
            True,
        ),
        (FIELD, "{{ $l := until 3 }}{{ $l.gi_frame }}"),
        ("map[__class__:1]", '{{ $d := dict }}{{ $_ := set $d "__class__" 1 }}{{ $d }}', True),
        # Other files.
        (UNKNOWN, '{{ import "os" }}'),
        ("no template", '{{ include "/etc/passwd" . }}'),
        (UNKNOWN, '{{ template "/etc/passwd" . }}'),
        # What is not the template's own cannot be changed, and a loop's list does not grow.
        ("1", '{{ $_ := set .params "z" 1 }}{{ .params.z }}', True),
        (
            "2",
            "{{ $l := list 1 2 }}{{ range $l }}{{ $_ := append $l . }}{{ end }}{{ len $l }}",
            True,
        ),
        ("[1 2 3]", f"{{{{ $_ := append {_SPEC}.l 9 }}}}{{{{ {_SPEC}.l }}}}", True),
        # Numbers have 64 bits; decimals are text.
        ("9223372036854775807", "{{ mul 9223372036854775807 1 }}", True),
        ("illegal number syntax", "{{ gt 1e10000000 1 }}"),
        ("Decimal", "{{ $n := 9.0 }}{{ range 60 }}{{ $n = mulf $n $n }}{{ end }}{{ $n }}"),
        # Size.
        (STRING, '{{ repeat 10000000000 "x" }}'),
        (STRING, _DOUBLED % ('"aaaaaaaa"', "print $x $x")),
        (LIST, _DOUBLED % ("list 0", "concat $x $x")),
        (WIDTH, '{{ $n := 1000000 }}{{ printf (print "%" $n "s") "abc" }}'),
        (WIDTH, '{{ printf "%-1000000s" "abc" }}'),
        (STRING, '{{ replace "\\t" (repeat 1000000 " ") "\\t\\t" }}'),
        (WIDTH, '{{ printf "%01000000d" 1 }}'),
        ("draws", "{{ randBytes 900000000 | len }}"),
        (UNKNOWN, "{% if " + "a " * 100_000 + "{{ a }}"),
        ("must be an object", "{{ range $i, $n := initial (until 9999) }}{{ $n }}{{ end }}"),
        ("a layout of", '{{ toDate (repeat 1000 "2006") "a" }}'),
        ("steps", "{{ range until 99999 }}{{ $x := randAlphaNum 1000 }}{{ end }}"),
        (WIDTH, '{{ printf "%1000000v" "a" }}'),
        (STRING, '{{ repeat 100000 "x" | replace "x" (repeat 100000 "y") }}'),
        (STRING, '{{ until 99999 | join (repeat 100000 "y") }}'),
        (WIDTH, '{{ indent 1000000000 "a\\nb" }}'),
        (LIST, "{{ untilStep 0 100000000 1 | len }}"),
        ("1", "{{ chunk 100000000 (list 1) | len }}", True),
        ("at most 22 digits", "{{ round 1.5 100000000 }}"),
        ("illegal number syntax", "{{ 1e5000 }}"),
        (WIDTH, "{{ nindent 500000000 (toPrettyJson (list (list 1))) }}"),
        (LIST, "{{ until 100001 }}"),
        # Steps, output and depth.
        ("steps", f"{_LOOP}{_ENDS}"),
        ("output", f"{_LOOP}{'x' * 1000}{_ENDS}"),
        ("nested", '{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}'),
        ("steps", _TREE),
        (
            "nested",
            _RECURSIVE,
        ),
        # Monstrous syntax.
        ("nested", "{{ " + _nested("(", ")", 200, "1") + " }}"),
        ("tokens", "{{ " + _nested("(", ")", 100_000, "1") + " }}"),
        ("abc", "{{ `abc`" + " | print" * 199 + " }}", True),
        ("nested", _nested("{{ if . }}", "{{ end }}", 200)),
        ("steps", _nested("{{ range 2 }}", "{{ end }}", 45)),
        ("", "{{ if .x }}" + "{{ else if .x }}x" * 3_000 + "{{ end }}", True),
        ("a source of", "x" * 2_000_000),
        # Work that grows faster than what is worked on.
        ("200000", '{{ regexReplaceAll "<[^>]*>" (repeat 200000 "<") "" | len }}', True),
        ("", '{{ (urlParse (print "http://a.b/" (repeat 50000 "."))).fragment }}', True),
        ("1000000", '{{ wrap 1 (repeat 500000 "a ") | len }}', True),
        ("steps", "{{ range 1000 }}{{ $_ := until 99999 | sortAlpha | uniq }}{{ end }}"),
        (
            "steps",
            "{{ $l := list }}{{ range until 20000 }}{{ $l = append $l . }}{{ end }}{{ len $l }}",
        ),
        ("steps", "{{ $l := until 99999 }}{{ range $l }}{{ $_ := has -1 $l }}{{ end }}"),
        (
            "steps",
            _SEARCH,
        ),
        # Values that are small until they are walked.
        *(
            ("nodes", f"{_SHARED}{{{{ {call} }}}}")
            for call in (
                *("$x", "toJson $x", "toYaml $x", "quote $x", 'join "," $x', "html $x"),
                *('printf "%d" $x', "deepCopy $x | len"),
            )
        ),
        ("nodes", f"{_SHARED}{{{{ $y := $x }}}}{_SHARED}{{{{ deepEqual $x $y }}}}"),
        ("nodes", f"{{{{ fromYaml `{_ALIASES}` | len }}}}"),
        *(
            ("deep", f"{_ENDLESS}{{{{ {call} }}}}")
            for call in ("$x", "toJson $x", "toYaml $x", "deepCopy $x")
        ),
        # Much at once, or again and again.
        ("steps", "{{ range 1000000000 }}{{ end }}"),
        ("steps", f"{_BIG}{{{{ range 100000 }}}}{{{{ $y := upper $x }}}}{{{{ end }}}}"),
        ("steps", "{{ range 100000 }}{{ $y := until 100000 }}{{ end }}"),
        ("steps", _ENTRIES),
        ("output", f"{_BIG}{'{{ $x }}' * 3000}"),
        (LIST, "{{ seq 1 1000000000 }}"),
        (STRING, _DOUBLED % ('"a"', "cat $x $x")),
        (STRING, _DOUBLED % ('"a"', 'printf "%s%s" $x $x')),
        (STRING, f"{_BIG}{{{{ print{' $x' * 5000} | len }}}}"),
        (STRING, f'{_BIG}{{{{ printf "{"%s" * 5000}"{" $x" * 5000} | len }}}}'),
        (WIDTH, '{{ printf "%.100000f" 1.0 }}'),
        # More monstrous syntax, and what is only large.
        ("unclosed action", "{{ " + '"a" ' * 5_000),
        ('unexpected "{"', "{" * 15_000),
        ("unclosed comment", "{{/*" * 50_000),
        ("illegal number syntax", "{{ " + "1" * 100_000 + " }}"),
        ("unexpected . after term", "{{ ." + ".a" * 9_000 + " }}"),
        ("b", "{{ if .x }}a{{ else }}" * 40 + "b" + "{{ end }}" * 40, True),
        ("x", "{{ range 1 }}" * 45 + "x" + "{{ end }}" * 45, True),
        ("<no value>", "{{ .a" + ".a" * 9_000 + " }}", True),
        ("1", " " * 200_000 + "{{- 1 }}", True),
        ("x" * 250_000, "x" * 250_000, True),
    ]
)
