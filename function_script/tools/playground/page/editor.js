// A text area with line numbers, colours and marks: the colours lie below, the text area is transparent.

import { highlight } from "./highlight.js";

export class Editor {
  constructor(host, changed) {
    this.host = host;
    this.area = host.querySelector("textarea");
    this.paint = host.querySelector("pre");
    this.gutter = host.querySelector(".gutter");
    this.marks = host.querySelector(".marks");
    this.problems = [];
    this.area.addEventListener("input", () => {
      this.problems = [];
      this.draw();
      changed(this.area.value);
    });
    this.area.addEventListener("keydown", (event) => this.key(event));
  }

  /** Show `text` of the file `name`, with problems: objects with line, column and width. */
  show(name, text, problems) {
    this.name = name;
    this.problems = problems;
    if (this.area.value !== text) this.area.value = text;
    this.draw();
  }

  /** Put the caret there and bring it into view; lines and columns begin at 1. */
  go(line, column) {
    const lines = this.area.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const at = before + [...(lines[line - 1] ?? "")].slice(0, (column ?? 1) - 1).join("").length;
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(at, at);
    const height = this.gutter.scrollHeight / Math.max(1, lines.length);
    this.host.scrollTo({ top: Math.max(0, line * height - this.host.clientHeight / 2), left: 0 });
  }

  draw() {
    const text = this.area.value;
    const lines = text.split("\n");
    const bad = new Set(this.problems.map((problem) => problem.line));
    this.paint.innerHTML = highlight(text, this.name) + "\n";
    this.gutter.innerHTML = lines.map((_, at) => (bad.has(at + 1) ? `<b>${at + 1}</b>` : at + 1)).join("\n");
    this.marks.replaceChildren(...this.problems.filter((problem) => problem.line).map((problem) => this.mark(problem, lines)));
  }

  mark(problem, lines) {
    const line = lines[problem.line - 1] ?? "";
    const indent = line.length - line.trimStart().length;
    const column = problem.column ?? indent + 1;
    const width = problem.column ? problem.width || 1 : Math.max(1, line.length - indent);
    const mark = document.createElement("i");
    mark.style.top = `calc(${problem.line - 1}em * var(--line))`;
    mark.style.left = `${column - 1}ch`;
    mark.style.width = `${width}ch`;
    return mark;
  }

  key(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const { area } = this;
    if (event.key === "Escape") {
      area.blur(); // so that Tab leads out of the editor
    } else if (event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      insert("  ");
    } else if (event.key === "Enter") {
      const line = area.value.slice(0, area.selectionStart).split("\n").pop();
      event.preventDefault();
      insert("\n" + line.match(/^\s*/)[0] + (/[:{(\[]\s*$/.test(line) && !/^\s*#/.test(line) ? "  " : ""));
    }
  }
}

// The only way to change the text that leaves undo as it is.
function insert(text) {
  document.execCommand("insertText", false, text);
}
