// The resource graph as SVG: the XR on the left, or on top where there is little room, what it
// composes in a column, references beside that.

const NODE = { width: 210, height: 46, gap: 14 };
const LEFT = 6;
const COLUMN = 290;
const INDENT = 40;
const SPACE = "http://www.w3.org/2000/svg";

function element(name, attributes, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function text(value, x, y, kind = "") {
  const short = value.length > 27 ? `${value.slice(0, 26)}…` : value;
  return element("text", { x, y, class: kind }, short);
}

/** An SVG element for `nodes` (id, name, kind, state) and `edges` (pairs of ids). */
export function draw({ nodes, edges }, isNarrow) {
  const [xr, ...composed] = nodes;
  const rows = Math.max(1, composed.length + Number(isNarrow));
  const row = (at) => NODE.gap + at * (NODE.height + NODE.gap);
  const height = row(rows);
  const column = isNarrow ? INDENT : COLUMN;
  const places = new Map(composed.map((node, at) => [node.id, { x: column, y: row(at + Number(isNarrow)) }]));
  places.set(xr.id, { x: LEFT, y: isNarrow ? NODE.gap : (height - NODE.height) / 2 });
  const width = column + NODE.width + 70;
  const drawn = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Resource graph" });
  for (const [from, to] of edges) drawn.append(edge(places.get(from), places.get(to), from === xr.id));
  for (const node of nodes) drawn.append(box(node, places.get(node.id)));
  return drawn;
}

function edge(from, to, composes) {
  const [y1, y2] = [from.y + NODE.height / 2, to.y + NODE.height / 2];
  if (composes && to.x < from.x + NODE.width) {
    const x = from.x + (to.x - from.x) / 2;
    return element("path", { d: `M${x} ${from.y + NODE.height} V${y2 - 10} Q${x} ${y2} ${x + 10} ${y2} H${to.x}` });
  }
  if (composes) {
    const [x1, x2] = [from.x + NODE.width, to.x];
    const half = (x1 + x2) / 2;
    return element("path", { d: `M${x1} ${y1} C${half} ${y1} ${half} ${y2} ${x2} ${y2}` });
  }
  const x = from.x + NODE.width;
  return element("path", { class: "reference", d: `M${x} ${y1} C${x + 55} ${y1} ${x + 55} ${y2} ${x} ${y2}` });
}

function box(node, { x, y }) {
  const words = { ready: "ready", unready: "not ready yet", deleted: "would be deleted" };
  return element(
    "g",
    { class: node.state },
    element("title", {}, `${node.kind} ${node.name}: ${words[node.state]}`),
    element("rect", { x, y, width: NODE.width, height: NODE.height, rx: 8 }),
    text(node.name || "(unnamed)", x + 12, y + 19),
    text(node.kind, x + 12, y + 36, "kind"),
  );
}
