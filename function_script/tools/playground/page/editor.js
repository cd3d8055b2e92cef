// A text area with line numbers, colours and marks: the colours lie below, the text area is transparent.

import { highlight, regionAt, visible } from "./highlight.js";
import { History } from "./history.js";
import { indentAfter, indentLines, toNextStop, unindentLines, unitOf } from "./indent.js";

const escape = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

export class Editor {
  /** `changed` gets the text after each change, `chosen` the line that is clicked, `left` is called when Escape lets Tab leave. */
  constructor(host, hover, { changed, chosen, left }) {
    this.host = host;
    this.hover = hover;
    this.changed = changed;
    this.left = left;
    this.area = host.querySelector("textarea");
    this.paint = host.querySelector("pre");
    this.gutter = host.querySelector(".gutter");
    this.marks = host.querySelector(".marks");
    this.problems = [];
    this.histories = new Map();
    this.carets = new Map();
    this.tabLeaves = false;
    this.area.addEventListener("input", (event) => this.accept(event.inputType));
    this.area.addEventListener("beforeinput", (event) => this.before(event));
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.area.addEventListener("click", () => chosen(this.line()));
    this.area.addEventListener("blur", () => (this.tabLeaves = false));
    host.addEventListener("mousemove", (event) => this.point(event));
    host.addEventListener("mouseleave", () => (hover.hidden = true));
    host.addEventListener("scroll", () => (hover.hidden = true));
  }

  /** Forget all files: another folder is open. */
  clear() {
    this.histories.clear();
    this.carets.clear();
    this.name = undefined;
  }

  /** Show `text` of the file `name`, with problems: objects with severity, message, line, column and width. */
  show(name, text, problems) {
    const isOther = name !== this.name;
    if (isOther && this.name !== undefined) this.carets.set(this.name, { at: this.area.selectionStart, top: this.host.scrollTop });
    if (isOther) this.chosen = 0;
    this.name = name;
    this.problems = problems;
    this.area.setAttribute("aria-label", `Text of ${name}`);
    if (!this.histories.has(name)) this.histories.set(name, new History(text));
    this.histories.get(name).record(text);
    if (this.area.value !== text || isOther) {
      const at = isOther ? (this.carets.get(name)?.at ?? 0) : this.area.selectionStart;
      this.area.value = text;
      this.area.setSelectionRange(at, at);
    }
    this.draw();
    if (isOther) this.host.scrollTo({ top: this.carets.get(name)?.top ?? 0, left: 0 });
  }

  /** Put the caret there and bring it into view; lines and columns begin at 1. */
  go(line, column) {
    const lines = this.area.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const at = before + [...(lines[line - 1] ?? "")].slice(0, (column ?? 1) - 1).join("").length;
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(at, at);
    // The mark of a long line is in view, and so is the line's beginning if there is room for both.
    const right = this.gutter.offsetWidth + ((column ?? 1) + 30) * this.characterWidth();
    const top = line * this.lineHeight() - this.host.clientHeight / 2;
    this.host.scrollTo({ top: Math.max(0, top), left: Math.max(0, right - this.host.clientWidth) });
  }

  /** The line of the caret. */
  line() {
    return this.area.value.slice(0, this.area.selectionStart).split("\n").length;
  }

  /** Mark a line; 0: none. */
  choose(line) {
    this.chosen = line;
    this.draw();
  }

  characterWidth() {
    const ruler = document.createElement("i");
    ruler.style.width = "100ch";
    this.marks.append(ruler);
    const { width } = ruler.getBoundingClientRect();
    ruler.remove();
    return width / 100;
  }

  lineHeight() {
    return parseFloat(getComputedStyle(this.area).lineHeight);
  }

  draw() {
    const text = this.area.value;
    const lines = text.split("\n");
    const worst = new Map();
    for (const { line, severity } of this.problems) if (worst.get(line) !== "error") worst.set(line, severity);
    this.paint.innerHTML = highlight(text, this.name) + "\n";
    const number = (at) => (worst.has(at) ? `<b class="${escape(worst.get(at))}">${at}</b>` : at);
    this.gutter.innerHTML = lines.map((_, at) => number(at + 1)).join("\n");
    this.marks.replaceChildren(...this.problems.filter((problem) => problem.line).map((problem) => this.mark(problem, lines)));
    if (this.chosen) this.marks.prepend(this.band(this.chosen));
    this.hover.hidden = true;
  }

  band(line) {
    const band = document.createElement("i");
    band.className = "line";
    band.style.top = `calc(${line - 1}em * var(--line))`;
    return band;
  }

  /** A mark has the text of its line, unseen: tabs and wide characters have their own widths. */
  mark(problem, lines) {
    const characters = [...(lines[problem.line - 1] ?? "")];
    const start = problem.column ? problem.column - 1 : Math.max(0, characters.findIndex((character) => character.trim()));
    const end = problem.column ? start + (problem.width || 1) : characters.length;
    const mark = document.createElement("i");
    const under = document.createElement("u");
    mark.className = problem.severity;
    mark.style.top = `calc(${problem.line - 1}em * var(--line))`;
    under.textContent = characters.slice(start, end).join("") || " ";
    mark.append(characters.slice(0, start).join(""), under);
    return mark;
  }

  /** Show the messages of the line under the pointer. */
  point(event) {
    const line = Math.floor((event.clientY - this.marks.getBoundingClientRect().top) / this.lineHeight()) + 1;
    const here = this.problems.filter((problem) => problem.line === line);
    this.hover.hidden = !here.length;
    if (!here.length) return;
    const text = ({ message, hint, rule }) => `${message}${rule ? ` (${rule})` : ""}${hint ? `\nHint: ${hint}` : ""}`;
    this.hover.textContent = visible(here.map(text).join("\n\n"));
    const below = this.marks.getBoundingClientRect().top + line * this.lineHeight() + 4;
    const isLow = below + this.hover.offsetHeight > innerHeight;
    this.hover.style.top = `${isLow ? below - this.lineHeight() - this.hover.offsetHeight - 8 : below}px`;
    this.hover.style.left = `${Math.max(4, Math.min(event.clientX + 8, innerWidth - this.hover.offsetWidth - 8))}px`;
  }

  accept(kind) {
    this.histories.get(this.name)?.record(this.area.value, kind);
    this.problems = [];
    this.chosen = 0;
    this.draw();
    this.changed(this.area.value);
  }

  /** The browser's own undo knows one text only: its menu and keys work on the file's history. */
  before(event) {
    const step = { historyUndo: "undo", historyRedo: "redo" }[event.inputType];
    if (!step) return;
    event.preventDefault();
    this.travel(step);
  }

  travel(step) {
    const history = this.histories.get(this.name);
    const at = history[step]();
    if (at !== null) this.put(history.text, at, at, false);
  }

  /** Replace the whole text, as one step, and select from `start` to `end`. */
  put(text, start, end, records = true) {
    this.area.value = text;
    this.area.setSelectionRange(start, end);
    if (records) this.histories.get(this.name).record(text);
    this.accept("");
    this.reveal(end);
  }

  reveal(at) {
    const line = this.area.value.slice(0, at).split("\n").length;
    const [top, height] = [(line - 1) * this.lineHeight(), this.lineHeight()];
    const { host } = this;
    if (top < host.scrollTop) host.scrollTop = top;
    else if (top + 3 * height > host.scrollTop + host.clientHeight) host.scrollTop = top + 3 * height - host.clientHeight;
  }

  key(event) {
    if (event.isComposing || event.altKey) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    const step = isCommand && (key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" && "undo");
    if (step) {
      event.preventDefault();
      this.travel(step);
    } else if (isCommand) {
      return;
    } else if (event.key === "Escape") {
      this.tabLeaves = true;
      this.left();
    } else if (event.key === "Tab") {
      if (!this.tabLeaves) this.tab(event);
    } else {
      if (event.key !== "Shift") this.tabLeaves = false;
      if (event.key === "Enter") this.enter(event);
    }
  }

  /** The part of the file around a position: its lines, its style, and the line's index in it. */
  around(at) {
    const { value } = this.area;
    const number = value.slice(0, at).split("\n").length - 1;
    const { first, last, style } = regionAt(value, this.name, number);
    return { lines: value.split("\n").slice(first, last + 1), at: number - first, style };
  }

  tab(event) {
    const { value, selectionStart: start, selectionEnd: end } = this.area;
    event.preventDefault();
    const region = this.around(start);
    const unit = unitOf(region.lines, region.style);
    if (event.shiftKey || start !== end) {
      const edited = (event.shiftKey ? unindentLines : indentLines)(value, start, end, unit);
      if (edited.text !== value) this.put(edited.text, edited.start, edited.end);
      return;
    }
    const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
    const base = Math.min(...region.lines.filter((other, at) => other.trim() && at !== region.at).map((other) => other.length - other.trimStart().length), Infinity);
    const blanks = line.trim() || base === Infinity ? " ".repeat(unit) : toNextStop(line.length, base, unit);
    this.put(value.slice(0, start) + blanks + value.slice(start), start + blanks.length, start + blanks.length);
  }

  enter(event) {
    const { value, selectionStart: start, selectionEnd: end } = this.area;
    event.preventDefault();
    const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
    const inserted = `\n${indentAfter(line, this.around(start))}`;
    const at = start + inserted.length;
    this.put(value.slice(0, start) + inserted + value.slice(end), at, at);
  }
}
