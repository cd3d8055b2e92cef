// What a rendering looks like: resources, changes, graph, events, problems.

import { draw, WORDS } from "./graph.js";
import { highlight, visible } from "./highlight.js";
import { comparison } from "./notices.js";

export function make(name, attributes = {}, ...children) {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...children.map(visible));
  return element;
}

const empty = (text) => make("p", { className: "empty" }, text);
const whole = (result) => result.documents.map((item) => `---\n${item.yaml}`).join("");
const field = (yaml, pattern) => (pattern.exec(yaml) ?? ["", ""])[1];

const rows = (yaml) =>
  highlight(yaml.trimEnd())
    .split("\n")
    .map((html, at) => `<span data-line="${at}">${html || " "}</span>`)
    .join("");

/** Mark the lines of the documents in `host` whose numbers are in `marked`: a set for each document. */
export function mark(host, marked) {
  host.querySelectorAll("details pre").forEach((pre, at) => {
    for (const row of pre.children) row.classList.toggle("written", Boolean(marked[at]?.has(Number(row.dataset.line))));
  });
}

function documents({ result, folded, follow }) {
  const states = new Map(result.graph.nodes.map((node) => [node.id, node.state]));
  const boxes = result.documents.map(({ name, yaml }, document) => {
    const state = states.get(name ? `resource/${name}` : "xr") ?? "";
    const box = make(
      "details",
      { open: !folded.has(name) },
      make(
        "summary",
        {},
        make("b", {}, name || "the XR"),
        make("span", {}, field(yaml, /^kind: (.*)$/m)),
        make("em", { className: state }, WORDS[state] ?? ""),
      ),
      make("pre", { innerHTML: rows(yaml) }),
    );
    box.querySelector("pre").addEventListener("click", (event) => {
      const line = event.target.closest("[data-line]");
      if (line && getSelection().isCollapsed) follow(document, Number(line.dataset.line));
    });
    box.addEventListener("toggle", () => (box.open ? folded.delete(name) : folded.add(name)));
    return box;
  });
  const waiting = result.waiting.map(({ name, reason }) =>
    make("p", { className: "waits" }, make("b", {}, name), make("span", {}, reason), make("em", { className: "waiting" }, WORDS.waiting)),
  );
  return [...boxes, ...waiting];
}

function changes({ result, baselines, since, choose }) {
  const labels = { opened: "the folder was opened", saved: "the last save", run: "the last run" };
  const options = Object.entries(labels).map(([value, label]) => make("option", { value }, label));
  const select = make("select", { id: "since" }, ...options);
  select.value = since;
  select.addEventListener("change", () => choose(select.value));
  const before = baselines[since];
  const choice = make("label", { className: "choice" }, "Since ", select);
  if (!before) return [choice, empty("There is nothing to compare with: there was no result then.")];
  const lines = whole(before) === whole(result) ? [] : comparison(whole(before), whole(result));
  return [choice, lines.length ? make("pre", { className: "lines" }, ...lines) : empty("Nothing has changed.")];
}

function graph({ result, room }) {
  const counts = Map.groupBy(result.graph.nodes.slice(1), ({ state }) => state);
  const states = Object.keys(WORDS).filter((state) => counts.has(state));
  const words = states.map((state) => make("span", { className: state }, `${counts.get(state).length} ${WORDS[state]}`));
  const legend = make("p", { className: "empty legend" }, ...words, "Dotted: names or waits for another resource.");
  return [legend, draw(result.graph, room)];
}

function events({ result }) {
  const items = result.events.map((event) =>
    make("li", { className: event.severity }, make("b", {}, `${event.severity} ${event.reason}`), event.message),
  );
  const printed = result.printed ? [make("h3", {}, "Printed"), make("pre", {}, result.printed)] : [];
  return [items.length ? make("ul", { className: "events" }, ...items) : empty("No events."), ...printed];
}

const PANES = { documents, changes, graph, events };

/** Elements for the pane `name`; `state` has the result, and those to compare it with. */
export function pane(name, state) {
  return state.result ? PANES[name](state) : [empty("Nothing has been rendered yet.")];
}

/** A button for each problem; `go` is called with the one that is clicked. */
export function problems(list, go) {
  return list.map((problem) => {
    const place = problem.file ? `${problem.file}:${problem.line}${problem.column ? `:${problem.column}` : ""}` : "";
    const more = [...(problem.notes ?? []), ...(problem.hint ? [`Hint: ${problem.hint}`] : [])];
    const button = make(
      "button",
      { type: "button", className: problem.severity },
      make("strong", {}, make("span", { className: "hidden" }, `${problem.severity}: `), problem.message),
      make("code", {}, [place, problem.rule].filter(Boolean).join("  ")),
      ...more.map((text) => make("small", {}, text)),
    );
    button.addEventListener("click", () => go(problem));
    return button;
  });
}
