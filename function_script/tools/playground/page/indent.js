// Indentation as the text has it: what Tab, Shift+Tab and Enter do. Knows nothing of the page.

const DEFAULT = { script: 4, yaml: 2, template: 2, text: 2 };
const MOST = 8;
const STRINGS_AND_COMMENT = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(#.*)/g;
const SCRIPT_OPENER = /[:([{]\s*$/;
const YAML_OPENER = /^(\s*(?:- +)*)(?:"[^"]*"|'[^']*'|[^\s#"'{[&*!|>%@`-][^#]*?):(?:\s+[|>][-+\d]*)?(?:\s+#.*)?\s*$/;
const ACTION = /(?:\{%[-+]?\s*(?:if|elif|else|for|macro|call|filter|block|with)\b[^%]*%\}|\{\{-?\s*(?:if|else|range|with|define|block)\b(?:(?!\}\}).)*\}\})\s*$/;
const END = /^\s*(?:\{%[-+]?\s*(?:end|el)|\{\{-?\s*(?:end|else)\b)/;

const widthOf = (line) => line.length - line.trimStart().length;
const isBlank = (line) => !line.trim();

function isScriptOpener(line) {
  const code = line.replace(STRINGS_AND_COMMENT, (match, comment) => (comment ? "" : match));
  return SCRIPT_OPENER.test(code);
}

/** The most frequent step to the right in `lines`; of two, the smaller one. */
function commonStep(lines, isOpener) {
  const counts = new Map();
  lines.forEach((line, at) => {
    const next = lines.slice(at + 1, at + 4).find((other) => !isBlank(other));
    if (isBlank(line) || next === undefined || !isOpener(line)) return;
    const step = widthOf(next) - widthOf(line);
    if (step > 0 && step <= MOST) counts.set(step, (counts.get(step) ?? 0) + 1);
  });
  const [best] = [...counts].sort(([a, n], [b, m]) => m - n || a - b);
  return best?.[0];
}

/** The indent that `lines` of a style (script, template, yaml, text) use. */
export function unitOf(lines, style) {
  const isOpener = style === "script" ? isScriptOpener : (line) => !ACTION.test(line);
  return commonStep(lines, isOpener) ?? DEFAULT[style];
}

/** Report whether a template indents what is between its actions; it does unless the text shows the opposite. */
function indentsActions(lines) {
  let sum = 0;
  lines.forEach((line, at) => {
    const next = lines[at + 1];
    if (next === undefined || isBlank(next) || END.test(next) || !ACTION.test(line)) return;
    sum += widthOf(next) > widthOf(line) ? 1 : -1;
  });
  return sum >= 0;
}

/** The indent of a new line after `line`, which is at `at` of `lines`; the caret was at its end. */
export function indentAfter(line, { lines, at, style }) {
  const indent = line.match(/^\s*/)[0];
  const unit = " ".repeat(unitOf(lines, style));
  if (style === "script") return indent + (isScriptOpener(line) ? unit : "");
  if (style === "text") return indent;
  if (style === "template" && ACTION.test(line)) return indent + (indentsActions(lines.toSpliced(at, 1, "")) ? unit : "");
  const key = YAML_OPENER.exec(line);
  return key && !line.trimStart().startsWith("#") ? " ".repeat(key[1].length) + unit : indent;
}

function selectedLines(text, start, end) {
  const first = text.lastIndexOf("\n", start - 1) + 1;
  // A selection that ends before the first character of a line does not have this line.
  const until = end > start && text[end - 1] === "\n" ? end - 1 : end;
  const stop = text.indexOf("\n", until);
  return [first, stop < 0 ? text.length : stop];
}

/** Change the beginnings of the selected lines by `edit`; text and selection, which stays on the same characters. */
function editLines(text, start, end, edit) {
  const [first, stop] = selectedLines(text, start, end);
  let [from, to, at] = [start, end, first];
  const lines = text
    .slice(first, stop)
    .split("\n")
    .map((line) => {
      const edited = edit(line);
      const added = edited.length - line.length;
      const shift = (place) => (added > 0 ? (place >= at ? added : 0) : place > at ? Math.max(added, at - place) : 0);
      const [before, after] = [shift(start), shift(end)];
      from += before;
      to += after;
      at += line.length + 1;
      return edited;
    });
  return { text: text.slice(0, first) + lines.join("\n") + text.slice(stop), start: Math.max(first, from), end: to };
}

/** Indent the selected lines by `unit` blanks; empty lines stay empty. */
export function indentLines(text, start, end, unit) {
  return editLines(text, start, end, (line) => (isBlank(line) ? line : " ".repeat(unit) + line));
}

/** Take up to `unit` blanks, or a tab, from the beginnings of the selected lines. */
export function unindentLines(text, start, end, unit) {
  return editLines(text, start, end, (line) => line.replace(new RegExp(`^(?:\\t| {1,${unit}})`), ""));
}

/** The blanks from `column` to the next multiple of `unit`, counted from `base`. */
export function toNextStop(column, base, unit) {
  const beyond = column - base;
  return " ".repeat(beyond < 0 ? -beyond : unit - (beyond % unit));
}
