"""Scripts that use up time, memory or stack."""

from hostile.cases import DOCUMENT, KILLED, LIMIT, OK, PROGRAM, TIME, Hostile
from hostile.cases import main_of as _main

LOOPS = "for i in range(2000000000):\n{0}    for j in range(2000000000):\n{0}        pass"

TIME_ROWS = (
    Hostile("loops-in-main", _main(LOOPS.format("    ")), LIMIT, "its limit"),
    Hostile("loops-while-loading", LOOPS.format("") + "\n", LIMIT, "cannot load"),
    Hostile(
        "squares-of-a-big-number",
        _main("x = 3", "for i in range(40):", "    x = x * x", "return {}"),
        TIME,
    ),
    Hostile(
        "big-number-to-text",
        _main("x = 7", "for i in range(22):", "    x = x * x", 'return {"n": len(str(x))}'),
        TIME,
    ),
    Hostile(
        "sort-millions",
        _main('return {"n": len(sorted(list(range(9000000)), key = lambda v: -v))}'),
        TIME,
    ),
    Hostile(
        "concatenate-lists",
        _main("xs = list(range(3000000))", "for i in range(40):", "    xs = xs + xs[:3000000]"),
        TIME,
    ),
    Hostile(
        "compare-shared-lists",
        _main("a, b = [1], [1]", "for i in range(40):", "    a, b = [a, a], [b, b]", "a == b"),
        TIME,
    ),
    Hostile(
        "colliding-keys", _main("d = {}", "for i in range(100000):", "    d[i << 32] = i"), TIME
    ),
)

MEMORY_ROWS = (
    Hostile("double-a-text", _main('s = "ab"', "for i in range(60):", "    s = s + s"), TIME),
    Hostile("repeat-a-text", _main('return {"n": len("a" * 2000000000)}'), KILLED),
    Hostile(
        "repeat-a-text-too-often",
        _main('return {"n": len("a" * 10000000000)}'),
        PROGRAM,
        at=(2, 22),
    ),
    Hostile("repeat-a-list", _main('return {"n": len([0] * 1000000000)}'), KILLED),
    Hostile("list-of-range", _main("return list(range(1000000000))"), KILLED),
    Hostile("comprehension", _main("return [i for i in range(1000000000)]"), TIME),
    Hostile("dict-comprehension", _main("return {str(i): i for i in range(1000000000)}"), TIME),
    Hostile(
        "replace-by-itself",
        _main('s = "a" * 100000', 'return {"n": len(s.replace("a", s))}'),
        KILLED,
    ),
    Hostile(
        "join-by-itself",
        _main('s = "a" * 1000000', 'return {"n": len(s.join([""] * 100000))}'),
        KILLED,
    ),
    Hostile(
        "garbage-in-a-loop",
        _main("n = 0", "for i in range(90000000):", '    n += len({"k": i, "v": [i]})'),
        TIME,
    ),
    Hostile(
        "long-text-in-the-result",
        _main('return {"output": {"s": "x" * 5000000}}'),
        LIMIT,
        "bytes of JSON",
    ),
    Hostile(
        "shared-lists-in-the-result",
        _main("a = [1]", "for i in range(40):", "    a = [a, a]", 'return {"output": a}'),
        LIMIT,
    ),
    Hostile(
        "shared-lists-to-text",
        _main("a = [1]", "for i in range(40):", "    a = [a, a]", "return str(a)"),
        KILLED,
    ),
    Hostile("big-list-while-loading", "x = [0] * 1000000000\n" + _main("return {}"), KILLED),
    Hostile("shift", _main('return {"n": 1 << 10000000}'), PROGRAM, at=(2, 18)),
    Hostile(
        "many-values-in-the-result",
        _main('return {"output": list(range(300000))}'),
        LIMIT,
        "is one value too many",
    ),
)

STACK_ROWS = (
    Hostile(
        "endless-recursion",
        "def f(n):\n    return f(n + 1)\n" + _main("return f(0)"),
        LIMIT,
        "calls are nested deeper",
        at=(2, 12),
    ),
    Hostile(
        "endless-recursion-through-a-builtin",
        "def f(n):\n    return sorted([n], key = f)\n" + _main("return f(0)"),
        LIMIT,
        "calls are nested deeper",
    ),
    Hostile(
        "decent-recursion",
        "def f(n):\n    return 0 if n == 0 else f(n - 1)\n" + _main('return {"n": f(100)}'),
        OK,
    ),
    Hostile(
        "deep-list-in-the-result",
        _main("x = []", "for i in range(300):", "    x = [x]", 'return {"output": x}'),
        LIMIT,
        "nested more than 100 levels",
    ),
    Hostile(
        "deeper-dict-in-the-result",
        _main("x = {}", "for i in range(100000):", '    x = {"a": x}', "return x"),
        LIMIT,
        "nested more than 100 levels",
    ),
    Hostile(
        "deeper-dict-behind-what-is-refused",
        _main(
            *("x = {}", "for i in range(100000):", '    x = {"a": x}'),
            'return {"output": float("nan"), "context": x}',
        ),
        DOCUMENT,
        "not a finite number",
    ),
    Hostile(
        "deep-list-at-the-top-level",
        "x = []\nfor i in range(100000):\n    x = [x]\n" + _main("return {}"),
        OK | KILLED,
    ),
    Hostile(
        "list-in-itself",
        _main("x = [1]", "x.append(x)", 'return {"output": x}'),
        LIMIT,
        "contains itself",
    ),
    Hostile(
        "compare-lists-in-themselves",
        _main("x, y = [1], [1]", "x.append(x)", "y.append(y)", 'return {"n": x == y}'),
        PROGRAM,
        at=(5, 18),
    ),
    Hostile(
        "deep-list-to-json",
        _main("x = []", "for i in range(100000):", "    x = [x]", "return json.encode(x)"),
        KILLED,
    ),
    Hostile("open-brackets", "x = " + "[" * 99000 + "]" * 99000 + "\n", KILLED),
    Hostile("minus-signs", "x = " + "-" * 199000 + "1\n", KILLED),
    Hostile("lambdas", "x = " + "lambda: " * 20000 + "1\n", TIME),
    Hostile(
        "elif-branches",
        _main("if req:", "    pass", *["elif req:", "    pass"] * 7000),
        OK | KILLED | LIMIT | DOCUMENT,
    ),
    Hostile(
        "parentheses", "x = " + "(" * 20000 + "1" + ")" * 20000 + "\n" + _main("return {}"), OK
    ),
)
