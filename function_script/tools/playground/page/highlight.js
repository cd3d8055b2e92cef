// Text to HTML with the parts of YAML, scripts and templates in colour. Knows nothing of the page.

import { LANGUAGES } from "./languages.js";

const escape = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
// They show nothing, or show what follows in another order.
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;
const asNumber = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
/** A text with its control characters as JSON writes them; an element as it is. */
export const visible = (child) => (typeof child === "string" ? child.replace(CONTROL, asNumber) : child);
const span = (kind, text) => (text ? `<span class="${kind}">${escape(text)}</span>` : "");

const SCRIPT =
  /(#.*)|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|\b(def|return|for|in|if|elif|else|and|or|not|lambda|load|pass|break|continue|None|True|False)\b|\b(\d+(?:\.\d+)?)\b|([A-Za-z_]\w*(?=\())/g;
const SCRIPT_KINDS = [null, "c", "s", "w", "n", "t"];
const BLOCK = /^(\s*)(?:- )*("[^"]*"|[\w.\/-]+):\s*[|>][-+\d]*\s*(?:#.*)?$/;
const KEY = /^(\s*(?:- )*)("[^"]*"|'[^']*'|[^\s#"'{\[&*!|>%@`][^:#]*?)(:)(?=\s|$)/;

function script(line) {
  let html = "", at = 0;
  for (const match of line.matchAll(SCRIPT)) {
    html += escape(line.slice(at, match.index));
    const kind = match.findIndex((part, index) => index > 0 && part !== undefined);
    html += span(SCRIPT_KINDS[kind], match[0]);
    at = match.index + match[0].length;
  }
  return html + escape(line.slice(at));
}

function value(text) {
  const match = /^(\s*)("(?:\\.|[^"\\])*"|'[^']*'|[^#]*?)(\s+#.*)?$/.exec(text);
  if (!match) return escape(text);
  const [, before, body, comment] = match;
  const kind = /^["']/.test(body) ? "s" : /^(-?\d+(\.\d+)?(e[-+]?\d+)?|true|false|null|~)$/.test(body) ? "n" : "";
  return before + (kind ? span(kind, body) : escape(body)) + span("c", comment ?? "");
}

function yaml(line) {
  if (/^\s*#/.test(line)) return span("c", line);
  if (/^---/.test(line)) return span("c", line);
  const key = KEY.exec(line);
  if (!key) return /^\s*- /.test(line) ? escape(line.match(/^\s*- /)[0]) + value(line.replace(/^\s*- /, "")) : value(line);
  return escape(key[1]) + span("k", key[2]) + ":" + value(line.slice(key[0].length));
}

// A template's line: YAML with actions in it. An action may begin on an earlier line.
function template(line, state) {
  let html = "", rest = line;
  while (rest) {
    if (!state.end) {
      const open = /\{\{|\{%|\{#/.exec(rest);
      if (!open) return html + (html ? escape(rest) : yaml(rest));
      html += html ? escape(rest.slice(0, open.index)) : yaml(rest.slice(0, open.index));
      state.end = { "{{": "}}", "{%": "%}", "{#": "#}" }[open[0]];
      rest = rest.slice(open.index);
    }
    const close = rest.indexOf(state.end, 2);
    const until = close < 0 ? rest.length : close + 2;
    html += span(state.end === "#}" || /^\{\{-?\s*\/\*/.test(rest) ? "c" : "t", rest.slice(0, until));
    rest = rest.slice(until);
    if (close >= 0) state.end = "";
  }
  return html;
}

const text = (line) => span("s", line);
const PAINTERS = { script, template, text };

/** The painter of programs in a file of that name; none for other files. */
function painterOfFile(name) {
  const language = LANGUAGES.find(({ extensions }) => extensions.some((end) => name.endsWith(end)));
  return language && PAINTERS[language.highlight];
}

/** The painter of a block of text in YAML: of a program's field or of a module. */
function painterOfBlock(key) {
  const bare = key.replace(/"/g, "");
  const ofFile = painterOfFile(bare);
  if (ofFile) return ofFile;
  if (bare === "template" || bare.endsWith(".yaml")) return template;
  const ofField = LANGUAGES.find(({ textField }) => textField === bare);
  return ofField ? PAINTERS[ofField.highlight] : text;
}

/** The blocks of lines of `content`: objects with first, last, paint; the file `name` decides about the lines outside. */
function blocksOf(lines, name) {
  const whole = painterOfFile(name) ?? yaml;
  if (whole === script) return [{ first: 0, last: lines.length - 1, paint: script }];
  const blocks = [{ first: 0, last: -1, paint: whole, indent: -1 }];
  lines.forEach((line, at) => {
    const indent = line.search(/\S/);
    let block = blocks.at(-1);
    if (block.indent >= 0 && indent >= 0 && indent <= block.indent) {
      block = { first: at, last: at, paint: whole, indent: -1 };
      blocks.push(block);
    }
    block.last = at;
    const begin = block.indent < 0 && BLOCK.exec(line);
    if (begin) blocks.push({ first: at + 1, last: at, paint: painterOfBlock(begin[2]), indent: begin[1].length });
  });
  return blocks;
}

/** The block with the line `number`, which begins at 0: first and last line, and style: script, template, yaml or text. */
export function regionAt(content, name, number) {
  const block = blocksOf(content.split("\n"), name).find(({ first, last }) => first <= number && number <= last);
  const styles = new Map([[script, "script"], [template, "template"], [yaml, "yaml"], [text, "text"]]);
  return { first: block.first, last: block.last, style: styles.get(block.paint) };
}

/** HTML for `content`, line for line; `name` is the file's. */
export function highlight(content, name = "") {
  const lines = content.split("\n");
  return blocksOf(lines, name)
    .flatMap(({ first, last, paint }) => {
      const state = { end: "" };
      return lines.slice(first, last + 1).map((line) => paint(line, state));
    })
    .join("\n");
}
