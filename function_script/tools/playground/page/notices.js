// Notices above the editor: something about a file that needs a choice, or that one should know.

import { difference } from "./difference.js";
import { make } from "./panes.js";

/** The lines that differ, with signs; `before` and `after` are texts. */
export function comparison(before, after) {
  const signs = { added: "+ ", removed: "- ", same: "  ", gap: "" };
  return difference(before, after).map(([kind, line]) => make("span", { className: kind }, signs[kind] + line));
}

function view({ key, text, choices, compare, isOpen }, dismiss) {
  const buttons = Object.entries(choices).map(([label, act]) => {
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", () => {
      dismiss(key);
      act();
    });
    return button;
  });
  const box = make("div", { className: "notice" }, make("p", {}, text), make("div", { className: "choices" }, ...buttons));
  box.dataset.key = key;
  if (compare) {
    const [before, after, legend] = compare;
    box.append(make("details", { open: isOpen }, make("summary", {}, legend), make("pre", { className: "lines" }, ...comparison(before, after))));
  }
  return box;
}

export class Notices {
  constructor(host) {
    this.host = host;
    this.items = new Map();
  }

  /** Show a notice with key, text, choices (functions by label), and compare (two texts and a legend); it replaces one of the same key. */
  add(notice) {
    this.items.set(notice.key, notice);
    this.draw();
  }

  dismiss(key) {
    if (this.items.delete(key)) this.draw();
  }

  clear() {
    this.items.clear();
    this.draw();
  }

  draw() {
    this.host.replaceChildren(...[...this.items.values()].map((notice) => view(notice, (key) => this.dismiss(key))));
  }
}
