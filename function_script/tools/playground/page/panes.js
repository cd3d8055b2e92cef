// What a rendering looks like: resources, changes, graph, events, problems.

import { difference } from "./difference.js";
import { draw } from "./graph.js";
import { highlight } from "./highlight.js";

function make(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

const empty = (text) => make("p", { className: "empty" }, text);
const whole = (shown) => shown.documents.map((item) => `---\n${item.yaml}`).join("");
const field = (yaml, pattern) => (pattern.exec(yaml) ?? ["", ""])[1];

function documents({ shown, folded }) {
  const states = new Map(shown.graph.nodes.map((node) => [node.id, node.state]));
  return shown.documents.map(({ name, yaml }) => {
    const state = states.get(name ? `resource/${name}` : "xr");
    const words = { ready: "ready", unready: "not ready yet" };
    const box = make(
      "details",
      { open: !folded.has(name) },
      make(
        "summary",
        {},
        make("b", {}, name || "the XR"),
        make("span", {}, field(yaml, /^kind: (.*)$/m)),
        make("em", { className: state ?? "" }, words[state] ?? ""),
      ),
      make("pre", { innerHTML: highlight(yaml) }),
    );
    box.addEventListener("toggle", () => (box.open ? folded.delete(name) : folded.add(name)));
    return box;
  });
}

function changes({ shown, last, first, since, choose }) {
  const select = make("select", {}, make("option", { value: "last" }, "the last run"), make("option", { value: "first" }, "the folder was opened"));
  select.value = since;
  select.addEventListener("change", () => choose(select.value));
  const before = since === "last" ? last : first;
  const items = before ? difference(whole(before), whole(shown)).filter(([kind], at, all) => kind !== "gap" || all.length > 1) : [];
  const signs = { added: "+ ", removed: "- ", same: "  ", gap: "" };
  const lines = items.map(([kind, line]) => make("span", { className: kind }, signs[kind] + line));
  const choice = make("label", { className: "choice" }, "Since ", select);
  return [choice, lines.length ? make("pre", { className: "lines" }, ...lines) : empty("Nothing has changed.")];
}

function graph({ shown }) {
  const word = (kind, text) => make("span", { className: kind }, text);
  const states = [word("ready", "Ready"), ", ", word("unready", "not ready yet"), ", ", word("deleted", "would be deleted")];
  const legend = make("p", { className: "empty" }, ...states, ". Dotted: a field that names another resource.");
  return [draw(shown.graph, matchMedia("(max-width: 800px)").matches), legend];
}

function events({ shown }) {
  const items = shown.events.map((event) =>
    make("li", { className: event.severity }, make("b", {}, `${event.severity} ${event.reason}`), event.message),
  );
  const printed = shown.printed ? [make("h3", {}, "Printed"), make("pre", {}, shown.printed)] : [];
  return [items.length ? make("ul", { className: "events" }, ...items) : empty("No events."), ...printed];
}

const PANES = { documents, changes, graph, events };

/** Elements for the pane `name`; `state` has what was shown, before and now. */
export function pane(name, state) {
  return state.shown ? PANES[name](state) : [empty("Nothing has been rendered yet.")];
}

/** A button for each problem; `go` is called with the one that is clicked. */
export function problems(found, go) {
  return found.map((problem) => {
    const place = problem.file ? `${problem.file}:${problem.line}${problem.column ? `:${problem.column}` : ""}` : "";
    const more = [...problem.notes, ...(problem.hint ? [`Hint: ${problem.hint}`] : [])];
    const button = make(
      "button",
      { type: "button" },
      make("strong", {}, problem.message),
      make("code", {}, place),
      ...more.map((text) => make("small", {}, text)),
    );
    button.addEventListener("click", () => go(problem));
    return button;
  });
}
