// The resource graph as SVG: the XR, and its resources beside it in a column, or below it in as many
// columns as there is room for.

const NODE = { width: 210, height: 46, gap: 14 };
const EDGE_ROOM = 62;
const BESIDE = 290;
const INDENT = 40;
const LEFT = 6;
const MOST_BESIDE = 12;
const SPACE = "http://www.w3.org/2000/svg";
export const WORDS = { ready: "ready", unready: "not ready yet", waiting: "waiting", deleted: "would be deleted" };

function element(name, attributes, ...children) {
  const drawn = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) drawn.setAttribute(key, value);
  drawn.append(...children);
  return drawn;
}

function text(value, x, y, kind = "") {
  const short = value.length > 27 ? `${value.slice(0, 26)}…` : value;
  return element("text", { x, y, class: kind }, short);
}

const byName = (one, other) => one.name.localeCompare(other.name, undefined, { numeric: true });

/** The places of the boxes, and the size of the whole. */
function place(xr, composed, room) {
  const row = (at) => NODE.gap + at * (NODE.height + NODE.gap);
  const isBeside = composed.length <= MOST_BESIDE && room >= BESIDE + NODE.width + EDGE_ROOM;
  if (isBeside) {
    const height = row(Math.max(1, composed.length));
    const places = new Map(composed.map((node, at) => [node.id, { x: BESIDE, y: row(at) }]));
    places.set(xr.id, { x: LEFT, y: (height - NODE.height) / 2 });
    return { places, width: BESIDE + NODE.width + EDGE_ROOM, height, isBeside };
  }
  const step = NODE.width + EDGE_ROOM;
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
  const { places, width, height, isBeside } = place(xr, composed, room);
  const label = `Resource graph of ${composed.length} resources; the tab Resources lists them`;
  const drawn = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const [from, to] of edges) {
    const isReference = from !== xr.id;
    // Many resources stand in rows below their XR, which says as much as a line to each of them.
    if (!isReference && !isBeside && places.get(to).x > INDENT) continue;
    const line = isReference ? reference(places.get(from), places.get(to)) : composition(places.get(from), places.get(to), isBeside);
    line.dataset.ends = JSON.stringify([from, to]);
    drawn.append(line);
  }
  for (const node of nodes) drawn.append(box(node, places.get(node.id), drawn));
  return drawn;
}

function composition(from, to, isBeside) {
  const [y1, y2] = [from.y + NODE.height / 2, to.y + NODE.height / 2];
  if (isBeside) {
    const [x1, x2] = [from.x + NODE.width, to.x];
    const half = (x1 + x2) / 2;
    return element("path", { d: `M${x1} ${y1} C${half} ${y1} ${half} ${y2} ${x2} ${y2}` });
  }
  const x = from.x + (to.x - from.x) / 2;
  return element("path", { d: `M${x} ${from.y + NODE.height} V${y2 - 10} Q${x} ${y2} ${x + 10} ${y2} H${to.x}` });
}

function reference(from, to) {
  const [y1, y2] = [from.y + NODE.height / 2, to.y + NODE.height / 2];
  const [x1, x2] = [from.x + NODE.width, to.x + NODE.width];
  if (x1 === x2) return element("path", { class: "reference", d: `M${x1} ${y1} C${x1 + 50} ${y1} ${x1 + 50} ${y2} ${x1} ${y2}` });
  const [a, b] = x1 < x2 ? [x1, to.x] : [from.x, x2];
  const half = (a + b) / 2;
  return element("path", { class: "reference", d: `M${a} ${y1} C${half} ${y1} ${half} ${y2} ${b} ${y2}` });
}

function box(node, { x, y }, drawn) {
  const title = [node.kind, `${node.name}:`, WORDS[node.state], node.note].filter(Boolean).join(" ");
  const group = element(
    "g",
    { class: node.state },
    element("title", {}, title),
    element("rect", { x, y, width: NODE.width, height: NODE.height, rx: 8 }),
    text(node.name || "(unnamed)", x + 12, y + 19),
    text(node.state === "waiting" ? `waiting ${node.note}` : node.kind, x + 12, y + 36, "kind"),
  );
  const emphasise = (isNear) => {
    for (const line of drawn.querySelectorAll("path")) line.classList.toggle("near", isNear && JSON.parse(line.dataset.ends).includes(node.id));
  };
  group.addEventListener("mouseenter", () => emphasise(true));
  group.addEventListener("mouseleave", () => emphasise(false));
  return group;
}
