// The resource graph as SVG: the XR, and its resources beside it in a column, or below it in as many
// columns as there is room for.

import { visible } from "./highlight.js";

const ROOMY = { width: 210, height: 46, gap: 14, edges: 62, characters: 27 };
const COMPACT = { width: 150, height: 38, gap: 8, edges: 44, characters: 20 };
const MOST_ROOMY = 40;
const BESIDE = 290;
const INDENT = 40;
const LEFT = 6;
const MOST_BESIDE = 12;
const SPACE = "http://www.w3.org/2000/svg";
export const WORDS = { ready: "ready", unready: "not ready yet", waiting: "waiting", deleted: "would be deleted" };

function element(name, attributes, ...children) {
  const svg = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
  svg.append(...children.map(visible));
  return svg;
}

function text(value, x, y, most, kind = "") {
  const short = value.length > most ? `${value.slice(0, most - 1)}…` : value;
  return element("text", { x, y, class: kind }, short);
}

const byName = (one, other) => one.name.localeCompare(other.name, undefined, { numeric: true });

/** The places of the boxes, each as large as `size`, and the size of the whole. */
function place(xr, composed, size, room) {
  const row = (at) => size.gap + at * (size.height + size.gap);
  const isBeside = composed.length <= MOST_BESIDE && room >= BESIDE + size.width + size.edges;
  if (isBeside) {
    const height = row(Math.max(1, composed.length));
    const places = new Map(composed.map((node, at) => [node.id, { x: BESIDE, y: row(at) }]));
    places.set(xr.id, { x: LEFT, y: (height - size.height) / 2 });
    return { places, width: BESIDE + size.width + size.edges, height, isBeside };
  }
  const step = size.width + size.edges;
  const columns = Math.max(1, Math.min(composed.length, Math.floor((room - INDENT) / step)));
  const rows = Math.ceil(composed.length / columns);
  const places = new Map(composed.map((node, at) => [node.id, { x: INDENT + Math.floor(at / rows) * step, y: row(1 + (at % rows)) }]));
  places.set(xr.id, { x: LEFT, y: row(0) });
  return { places, width: INDENT + columns * step, height: row(rows + 1), isBeside };
}

/** An SVG element for `nodes` (id, name, kind, state) and `edges` (pairs of ids), for `room` pixels of width. */
export function draw({ nodes, edges }, room) {
  const [xr, ...composed] = nodes;
  composed.sort(byName);
  const size = composed.length > MOST_ROOMY ? COMPACT : ROOMY;
  const { places, width, height, isBeside } = place(xr, composed, size, room);
  const label = `Resource graph of ${composed.length} resources; the tab Resources lists them`;
  const svg = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: size === COMPACT ? "compact" : "" });
  for (const [from, to] of edges) {
    const isReference = from !== xr.id;
    // Many resources stand in rows below their XR, which says as much as a line to each of them.
    if (!isReference && !isBeside && places.get(to).x > INDENT) continue;
    const ends = [places.get(from), places.get(to)];
    const line = isReference ? reference(...ends, size) : composition(...ends, size, isBeside);
    line.dataset.ends = JSON.stringify([from, to]);
    svg.append(line);
  }
  for (const node of nodes) svg.append(box(node, places.get(node.id), size, svg));
  return svg;
}

function composition(from, to, size, isBeside) {
  const [y1, y2] = [from.y + size.height / 2, to.y + size.height / 2];
  if (isBeside) {
    const [x1, x2] = [from.x + size.width, to.x];
    const half = (x1 + x2) / 2;
    return element("path", { d: `M${x1} ${y1} C${half} ${y1} ${half} ${y2} ${x2} ${y2}` });
  }
  const x = from.x + (to.x - from.x) / 2;
  return element("path", { d: `M${x} ${from.y + size.height} V${y2 - 10} Q${x} ${y2} ${x + 10} ${y2} H${to.x}` });
}

function reference(from, to, size) {
  const [y1, y2] = [from.y + size.height / 2, to.y + size.height / 2];
  const [x1, x2] = [from.x + size.width, to.x + size.width];
  if (x1 === x2) return element("path", { class: "reference", d: `M${x1} ${y1} C${x1 + size.edges - 12} ${y1} ${x1 + size.edges - 12} ${y2} ${x1} ${y2}` });
  const [a, b] = x1 < x2 ? [x1, to.x] : [from.x, x2];
  const half = (a + b) / 2;
  return element("path", { class: "reference", d: `M${a} ${y1} C${half} ${y1} ${half} ${y2} ${b} ${y2}` });
}

function box(node, { x, y }, size, svg) {
  const title = [node.kind, `${node.name}:`, WORDS[node.state], node.note].filter(Boolean).join(" ");
  const group = element(
    "g",
    { class: node.state },
    element("title", {}, title),
    element("rect", { x, y, width: size.width, height: size.height, rx: 8 }),
    text(node.name || "(unnamed)", x + 10, y + size.height * 0.42, size.characters),
    text(node.state === "waiting" ? `waiting ${node.note}` : node.kind, x + 10, y + size.height * 0.78, size.characters, "kind"),
  );
  const emphasise = (isNear) => {
    for (const line of svg.querySelectorAll("path")) line.classList.toggle("near", isNear && JSON.parse(line.dataset.ends).includes(node.id));
  };
  group.addEventListener("mouseenter", () => emphasise(true));
  group.addEventListener("mouseleave", () => emphasise(false));
  return group;
}
