// The changes of one text, to undo and redo them. Typing in a row is one step.

const PAUSE_MS = 1000;
const MOST = 1000;
const TYPING = new Set(["insertText", "insertCompositionText"]);

/** The change from `before` to `after`: a position, what was removed there, what was inserted. */
function change(before, after) {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before[at] === after[at]) at += 1;
  let tail = 0;
  while (tail < most - at && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return { at, removed: before.slice(at, before.length - tail), inserted: after.slice(at, after.length - tail) };
}

export class History {
  constructor(text) {
    this.text = text;
    this.past = [];
    this.future = [];
  }

  /** Record that the text is now `text`; `kind` is the input's type. */
  record(text, kind = "") {
    if (text === this.text) return;
    const step = { ...change(this.text, text), kind, time: Date.now() };
    const last = this.past.at(-1);
    const joins =
      last && TYPING.has(kind) && last.kind === kind && step.time - last.time < PAUSE_MS && !step.removed && step.at === last.at + last.inserted.length;
    if (joins) Object.assign(last, { inserted: last.inserted + step.inserted, time: step.time });
    else this.past.push(step);
    if (this.past.length > MOST) this.past.shift();
    this.future = [];
    this.text = text;
  }

  /** Go back one step; the position of the caret, or null if there is none. */
  undo() {
    return this.move(this.past, this.future, ({ at, removed, inserted }) => [at, inserted, removed]);
  }

  /** Go forward one step; the position of the caret, or null if there is none. */
  redo() {
    return this.move(this.future, this.past, ({ at, removed, inserted }) => [at, removed, inserted]);
  }

  move(from, to, read) {
    const step = from.pop();
    if (!step) return null;
    to.push({ ...step, time: 0 });
    const [at, old, text] = read(step);
    this.text = this.text.slice(0, at) + text + this.text.slice(at + old.length);
    return at + text.length;
  }
}
