"""Scripts that use up time, memory or stack."""

from hostile.cases import DOCUMENT, KILLED, LIMIT, OK, PROGRAM, TIME, Hostile
from hostile.cases import main_of as _main

LOOPS = "for i in range(2000000000):\n{0}    for j in range(2000000000):\n{0}        pass"

TIME_ROWS = (
    Hostile(id="loops-in-main", script=_main(LOOPS.format("    ")), must=LIMIT, says="its limit"),
    Hostile(
        id="loops-while-loading", script=LOOPS.format("") + "\n", must=LIMIT, says="cannot load"
    ),
    Hostile(
        id="squares-of-a-big-number",
        script=_main("x = 3", "for i in range(40):", "    x = x * x", "return {}"),
        must=TIME,
    ),
    Hostile(
        id="big-number-to-text",
        script=_main("x = 7", "for i in range(22):", "    x = x * x", 'return {"n": len(str(x))}'),
        must=TIME,
    ),
    Hostile(
        id="sort-millions",
        script=_main('return {"n": len(sorted(list(range(9000000)), key = lambda v: -v))}'),
        must=TIME,
    ),
    Hostile(
        id="concatenate-lists",
        script=_main(
            "xs = list(range(3000000))", "for i in range(40):", "    xs = xs + xs[:3000000]"
        ),
        must=TIME,
    ),
    Hostile(
        id="compare-shared-lists",
        script=_main(
            "a, b = [1], [1]", "for i in range(40):", "    a, b = [a, a], [b, b]", "a == b"
        ),
        must=TIME,
    ),
    Hostile(
        id="colliding-keys",
        script=_main("d = {}", "for i in range(100000):", "    d[i << 32] = i"),
        must=TIME,
    ),
)

MEMORY_ROWS = (
    Hostile(
        id="double-a-text",
        script=_main('s = "ab"', "for i in range(60):", "    s = s + s"),
        must=TIME,
    ),
    Hostile(id="repeat-a-text", script=_main('return {"n": len("a" * 2000000000)}'), must=KILLED),
    Hostile(
        id="repeat-a-text-too-often",
        script=_main('return {"n": len("a" * 10000000000)}'),
        must=PROGRAM,
        at=(2, 22),
    ),
    Hostile(id="repeat-a-list", script=_main('return {"n": len([0] * 1000000000)}'), must=KILLED),
    Hostile(id="list-of-range", script=_main("return list(range(1000000000))"), must=KILLED),
    Hostile(id="comprehension", script=_main("return [i for i in range(1000000000)]"), must=TIME),
    Hostile(
        id="dict-comprehension",
        script=_main("return {str(i): i for i in range(1000000000)}"),
        must=TIME,
    ),
    Hostile(
        id="replace-by-itself",
        script=_main('s = "a" * 100000', 'return {"n": len(s.replace("a", s))}'),
        must=KILLED,
    ),
    Hostile(
        id="join-by-itself",
        script=_main('s = "a" * 1000000', 'return {"n": len(s.join([""] * 100000))}'),
        must=KILLED,
    ),
    Hostile(
        id="garbage-in-a-loop",
        script=_main("n = 0", "for i in range(90000000):", '    n += len({"k": i, "v": [i]})'),
        must=TIME,
    ),
    Hostile(
        id="long-text-in-the-result",
        script=_main('return {"output": {"s": "x" * 5000000}}'),
        must=LIMIT,
        says="bytes of JSON",
    ),
    Hostile(
        id="shared-lists-in-the-result",
        script=_main("a = [1]", "for i in range(40):", "    a = [a, a]", 'return {"output": a}'),
        must=LIMIT,
    ),
    Hostile(
        id="shared-lists-to-text",
        script=_main("a = [1]", "for i in range(40):", "    a = [a, a]", "return str(a)"),
        must=KILLED,
    ),
    Hostile(
        id="big-list-while-loading",
        script="x = [0] * 1000000000\n" + _main("return {}"),
        must=KILLED,
    ),
    Hostile(id="shift", script=_main('return {"n": 1 << 10000000}'), must=PROGRAM, at=(2, 18)),
    Hostile(
        id="many-values-in-the-result",
        script=_main('return {"output": list(range(300000))}'),
        must=LIMIT,
        says="is one value too many",
    ),
)

STACK_ROWS = (
    Hostile(
        id="endless-recursion",
        script="def f(n):\n    return f(n + 1)\n" + _main("return f(0)"),
        must=LIMIT,
        says="calls are nested deeper",
        at=(2, 12),
    ),
    Hostile(
        id="endless-recursion-through-a-builtin",
        script="def f(n):\n    return sorted([n], key = f)\n" + _main("return f(0)"),
        must=LIMIT,
        says="calls are nested deeper",
    ),
    Hostile(
        id="decent-recursion",
        script="def f(n):\n    return 0 if n == 0 else f(n - 1)\n" + _main('return {"n": f(100)}'),
        must=OK,
    ),
    Hostile(
        id="deep-list-in-the-result",
        script=_main("x = []", "for i in range(300):", "    x = [x]", 'return {"output": x}'),
        must=LIMIT,
        says="nested more than 100 levels",
    ),
    Hostile(
        id="deeper-dict-in-the-result",
        script=_main("x = {}", "for i in range(100000):", '    x = {"a": x}', "return x"),
        must=LIMIT,
        says="nested more than 100 levels",
    ),
    Hostile(
        id="deep-list-at-the-top-level",
        script="x = []\nfor i in range(100000):\n    x = [x]\n" + _main("return {}"),
        must=OK | KILLED,
    ),
    Hostile(
        id="list-in-itself",
        script=_main("x = [1]", "x.append(x)", 'return {"output": x}'),
        must=LIMIT,
        says="contains itself",
    ),
    Hostile(
        id="compare-lists-in-themselves",
        script=_main("x, y = [1], [1]", "x.append(x)", "y.append(y)", 'return {"n": x == y}'),
        must=PROGRAM,
        at=(5, 18),
    ),
    Hostile(
        id="deep-list-to-json",
        script=_main("x = []", "for i in range(100000):", "    x = [x]", "return json.encode(x)"),
        must=KILLED,
    ),
    Hostile(id="open-brackets", script="x = " + "[" * 99000 + "]" * 99000 + "\n", must=KILLED),
    Hostile(id="minus-signs", script="x = " + "-" * 199000 + "1\n", must=KILLED),
    Hostile(id="lambdas", script="x = " + "lambda: " * 20000 + "1\n", must=TIME),
    Hostile(
        id="elif-branches",
        script=_main("if req:", "    pass", *["elif req:", "    pass"] * 7000),
        must=OK | KILLED | LIMIT | DOCUMENT,
    ),
    Hostile(
        id="parentheses",
        script="x = " + "(" * 20000 + "1" + ")" * 20000 + "\n" + _main("return {}"),
        must=OK,
    ),
)
