// The difference of two texts, line by line.

const MOST = 4000;
const AROUND = 3;

/** Items `[kind, line]`: same, added, removed, or gap for what is left out. */
export function difference(before, after) {
  const [one, other] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < one.length && head < other.length && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(one.length, other.length) - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  const middle = compare(one.slice(head, one.length - tail), other.slice(head, other.length - tail));
  const same = (line) => ["same", line];
  return shorten([...one.slice(0, head).map(same), ...middle, ...one.slice(one.length - tail).map(same)]);
}

function compare(one, other) {
  const all = [...one.map((line) => ["removed", line]), ...other.map((line) => ["added", line])];
  if (!one.length || !other.length || one.length > MOST || other.length > MOST) return all;
  const width = other.length + 1;
  const common = new Uint16Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        one[i] === other[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
  const lines = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      lines.push(["same", one[i]]);
      i += 1;
      j += 1;
    } else if (i < one.length && (j === other.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      lines.push(["removed", one[i]]);
      i += 1;
    } else {
      lines.push(["added", other[j]]);
      j += 1;
    }
  }
  return lines;
}

function shorten(items) {
  const near = new Array(items.length).fill(false);
  items.forEach(([kind], at) => {
    if (kind !== "same") near.fill(true, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  const lines = [];
  items.forEach((item, at) => {
    if (near[at]) lines.push(item);
    else if (at === 0 || near[at - 1]) lines.push(["gap", "…"]);
  });
  return lines;
}
