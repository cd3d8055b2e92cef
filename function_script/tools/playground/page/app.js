// The page: what is typed goes to the server after a moment, what it renders to comes back.

import { Drafts } from "./drafts.js";
import { Editor } from "./editor.js";
import { Notices } from "./notices.js";
import * as panes from "./panes.js";
import { ask } from "./server.js";
import * as tabs from "./tabs.js";

const DELAY_MS = 120;
const BUSY_MS = 150;
const POLL_MS = 700;
const OUTDATED = "Not known: the text renders to something else now, or to nothing.";
const $ = (id) => document.getElementById(id);

// `disk` has the versions of files on disk that the page knows; `files` the texts on the page.
// A change of `opening` or `writing` makes answers to earlier questions worthless.
const state = {
  folder: "", file: "", files: {}, disk: {}, digests: {}, unfit: {}, addable: [], isWritable: false,
  pane: "documents", problems: [], result: null, baselines: {}, since: "opened", folded: new Set(),
  opening: 0, writing: 0, edits: 0, marked: [],
};
let run = null;
let timer = 0;
let drafts;

const notices = new Notices($("notices"));
const editor = new Editor($("editor"), $("hover"), {
  changed: (text) => edit(state.file, text),
  chosen: (line) => showValues(line).catch(report),
  left: () => announce("Tab leaves the text now"),
});

function say(text, kind) {
  $("state").textContent = text;
  $("state").dataset.state = kind;
  if (kind === "good" || kind === "bad") announce(text.replace(/ in [\d.]+ ms/, ""));
}

/** Tell a screen reader, but not the same twice: most keys lead to one more rendering. */
function announce(text) {
  if ($("announcement").textContent !== text) $("announcement").textContent = text;
}

const report = (error) => say(error.message, "bad");
const isEdited = (name) => (state.files[name] ?? "") !== (state.disk[name]?.text ?? "");
const anyEdited = () => Object.keys(state.files).some(isEdited);
/** The texts that the server cannot read from disk. */
const texts = () => (state.isWritable ? Object.fromEntries(Object.entries(state.files).filter(([name]) => isEdited(name))) : state.files);
const text = (result) => JSON.stringify(result.documents);

/* Editing */

function edit(name, text) {
  state.files[name] = text;
  keepDraft(name);
  drawFiles();
  renderSoon();
}

function keepDraft(name) {
  if (isEdited(name)) drafts.save(state.folder, name, state.files[name], state.disk[name]?.digest ?? null);
  else drafts.remove(state.folder, name);
}

function renderSoon() {
  state.edits += 1;
  showWriter("", []);
  say("…", "");
  clearTimeout(timer);
  timer = setTimeout(() => render().catch(report), DELAY_MS);
}

async function render() {
  clearTimeout(timer);
  if (run && run.opening === state.opening) {
    run.again = true;
    return;
  }
  const mine = (run = { opening: state.opening, again: true, abort: new AbortController() });
  const busy = setTimeout(() => isCurrent(mine) && setBusy(true), BUSY_MS);
  try {
    let result;
    while (mine.again) {
      mine.again = false;
      mine.edits = state.edits;
      result = await ask("/api/render", { folder: state.folder, files: texts() }, mine.abort.signal);
      if (!isCurrent(mine)) return; // another folder is open
    }
    run = null;
    accept({ ...result, edits: mine.edits });
  } catch (error) {
    if (!mine.abort.signal.aborted && (isCurrent(mine) || run === null)) report(error);
  } finally {
    clearTimeout(busy);
    if (run === mine) run = null;
    if (mine.opening === state.opening && run === null) setBusy(false);
  }
}

/** End the rendering that is going on; the last result stays. Report whether there was one. */
function cancel() {
  if (!run || $("cancel").hidden) return false;
  run.abort.abort();
  run = null;
  setBusy(false);
  ask("/api/cancel", {}).catch(report);
  say("cancelled: it renders again when you type", "bad");
  return true;
}

const isCurrent = (mine) => run === mine && mine.opening === state.opening;

function setBusy(isBusy) {
  $("result").setAttribute("aria-busy", isBusy);
  $("cancel").hidden = !isBusy;
  if (isBusy) say("rendering…", "busy");
}

function accept(result) {
  state.problems = result.problems;
  showWriter("", []);
  if (result.documents.length) {
    if (state.result && text(result) !== text(state.result)) state.baselines.run = state.result;
    state.result = result;
    state.baselines.opened ??= result;
    state.baselines.run ??= result;
    settle();
  }
  state.isStale = !result.documents.length;
  const count = (severity) => result.problems.filter((problem) => problem.severity === severity).length;
  const some = (number, word) => (number ? [`${number} ${word}${number > 1 ? "s" : ""}`] : []);
  const [errors, warnings] = [count("error"), count("warning")];
  const words = [...(state.isStale ? [] : [`rendered in ${result.milliseconds} ms`]), ...some(errors, "problem"), ...some(warnings, "warning")];
  say(words.join(", "), errors ? "bad" : "good");
  draw();
}

/* Which line wrote what */

/** Who wrote each line of the documents on the page; null where they are not those of the texts. */
async function findWriters() {
  const { result } = state;
  if (state.isStale || result?.edits !== state.edits) return null;
  result.writers ??= (await ask("/api/writers", { run: result.run })).writers;
  return result === state.result && result.edits === state.edits ? result.writers : null;
}

/** Say who wrote what, and mark lines of documents: a set for each. */
function showWriter(text, marked) {
  $("writer").textContent = text;
  state.marked = marked;
  panes.mark($("pane"), marked);
}

/** Mark the line of the program that wrote a line of a document. */
async function showLine(document, line) {
  const writers = await findWriters();
  const marked = [];
  marked[document] = new Set([line]);
  if (!writers) return showWriter(OUTDATED, marked);
  const writer = writers[document][line];
  editor.choose(0);
  if (!writer) return showWriter("Written by Crossplane, or by no step.", marked);
  const step = `step "${writer.step}"`;
  if (!writer.line) return showWriter(`Written by ${step}, whose line is not known.`, marked);
  if (!(writer.file in state.files)) return showWriter(`Written by ${step} at ${writer.file}:${writer.line}.`, marked);
  go({ file: writer.file, line: writer.line });
  editor.choose(writer.line);
  showWriter(`Written by ${step} at ${writer.file}:${writer.line}.`, marked);
}

/** Mark the lines of documents that a line of the open file wrote. */
async function showValues(line) {
  const { file } = state;
  const writers = await findWriters();
  if (file !== state.file) return;
  if (!writers) return showWriter(OUTDATED, []);
  const isOfLine = (writer) => writer?.file === file && writer.line === line;
  const marked = writers.map((lines) => new Set(lines.flatMap((writer, at) => (isOfLine(writer) ? [at] : []))));
  const isAny = marked.some(({ size }) => size);
  editor.choose(isAny ? line : 0);
  const steps = new Set(writers.flat().filter(isOfLine).map(({ step }) => `step "${step}"`));
  showWriter(isAny ? `${file}:${line}, ${[...steps].join(" and ")}, wrote what is marked.` : `No value is known that ${file}:${line} wrote.`, isAny ? marked : []);
  $("pane").querySelector(".written")?.scrollIntoView({ block: "nearest" });
}

/** What is shown is what the files on disk render to: the last save is compared with it. */
function settle() {
  if (!anyEdited() && !run && !state.isStale && state.result) state.baselines.saved = state.result;
}

/* Drawing */

function draw() {
  drawFiles();
  const here = state.problems.filter((problem) => problem.file === state.file && problem.line);
  editor.show(state.file, state.files[state.file] ?? "", here);
  $("editor").setAttribute("aria-labelledby", `file-${Object.keys(state.files).indexOf(state.file)}`);
  drawProblems();
  drawPane();
}

function drawProblems() {
  const content = JSON.stringify(state.problems);
  if ($("problems").dataset.content === content) return; // the focus and a screen reader stay where they are
  $("problems").dataset.content = content;
  $("problems").replaceChildren(...panes.problems(state.problems, go));
}

function drawFiles() {
  const names = Object.keys(state.files);
  const list = $("files");
  if (JSON.stringify([...list.children].map((tab) => tab.dataset.file)) !== JSON.stringify(names)) {
    const hasFocus = list.contains(document.activeElement);
    list.replaceChildren(...names.map(fileTab));
    if (hasFocus) list.children[names.indexOf(state.file)]?.focus();
  }
  for (const tab of list.children) drawFile(tab);
  const missing = state.addable.filter((name) => !names.includes(name) && !(name in state.unfit));
  $("add").replaceChildren(new Option("+ Add file", ""), ...missing.map((name) => new Option(name, name)));
  $("add").hidden = !missing.length;
  $("save").disabled = !state.isWritable || !isEdited(state.file);
  const reason = state.isWritable ? "This file is as it is on disk" : "A starter is no folder on disk: function-script init makes one";
  $("save").title = $("save").disabled ? reason : "Save this file (Ctrl+S)";
  $("revert").disabled = !isEdited(state.file);
}

function fileTab(name, at) {
  // Keep the row short: the whole path is in the tab's title.
  const short = name.length > 28 ? name.replace(/\/.*\//, "/…/") : name;
  const tab = panes.make("button", { type: "button", id: `file-${at}` }, panes.make("span", {}, short));
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", "editor");
  tab.dataset.file = name;
  return tab;
}

function drawFile(tab) {
  const name = tab.dataset.file;
  const severities = new Set(state.problems.filter((problem) => problem.file === name).map((problem) => problem.severity));
  const mark = severities.has("error") ? "error" : severities.has("warning") ? "warning" : "";
  tab.className = [mark, isEdited(name) ? "edited" : ""].join(" ").trim();
  tab.title = [name, ...(isEdited(name) ? ["not saved"] : []), ...(mark ? [`has ${mark}s`] : [])].join(", ");
  tab.setAttribute("aria-label", tab.title);
  tabs.choose(tab, name === state.file);
}

function drawPane() {
  const choose = (since) => {
    state.since = since;
    drawPane();
  };
  for (const tab of $("panes").children) {
    const isChosen = tab.dataset.pane === state.pane;
    tabs.choose(tab, isChosen);
    if (isChosen) $("pane").setAttribute("aria-labelledby", tab.id);
    const { opened } = state.baselines;
    const hasChanged = tab.dataset.pane === "changes" && state.result && opened && text(state.result) !== text(opened);
    tab.className = hasChanged ? "changed" : "";
  }
  const focus = document.activeElement?.id;
  $("pane").className = state.isStale ? "stale" : "";
  const room = $("pane").clientWidth - 28;
  const follow = (document, line) => showLine(document, line).catch(report);
  $("pane").replaceChildren(...panes.pane(state.pane, { ...state, room, choose, follow }));
  panes.mark($("pane"), state.marked);
  if (focus === "since") $("since")?.focus();
}

function open(name) {
  state.file = name;
  sessionStorage.setItem("file", name);
  draw();
}

function go(problem) {
  if (problem.file in state.files) {
    view("edit");
    open(problem.file);
    editor.go(problem.line, problem.column);
  }
}

function view(name) {
  document.body.dataset.view = name;
}

/* Folders, drafts and the disk */

async function openFolder(name) {
  const choice = (state.opening += 1);
  clearTimeout(timer);
  say("opening…", "busy");
  $("result").setAttribute("aria-busy", true);
  const { files, digests, unfit, addable, isWritable } = await ask("/api/folder", { folder: name });
  if (choice !== state.opening) return;
  // What began while the old folder was still there is of no use, either.
  const opening = (state.opening += 1);
  clearTimeout(timer);
  const onDisk = Object.fromEntries(Object.entries(files).map(([file, { text }]) => [file, text]));
  Object.assign(state, { folder: name, files: { ...onDisk }, disk: files, digests, unfit, addable, isWritable, isStale: false });
  // A reload opens the same folder, file and pane again.
  const last = sessionStorage.getItem("folder") === name ? sessionStorage.getItem("file") : null;
  Object.assign(state, { file: last in onDisk ? last : Object.keys(onDisk)[0], problems: [], result: null, baselines: {}, since: "opened" });
  state.folded.clear();
  sessionStorage.setItem("folder", name);
  sessionStorage.setItem("file", state.file);
  editor.clear();
  showWriter("", []);
  notices.clear();
  for (const [file, reason] of Object.entries(unfit)) {
    notices.add({ key: `unfit ${file}`, text: `${file} is used as it is, but cannot be edited here: ${reason}.`, choices: { "All right": () => {} } });
  }
  const drafted = takeDrafts();
  draw();
  if (drafted) {
    // The files on disk are what "since the folder was opened" and "since the last save" mean.
    const before = await ask("/api/render", { folder: name, files: onDisk });
    if (opening !== state.opening) return;
    if (before.documents.length) state.baselines = { opened: before, saved: before };
  }
  await render();
}

/** Go on with the drafts that belong to the versions on disk, and offer the others; report whether there are any of the former. */
function takeDrafts() {
  let isAny = false;
  for (const draft of drafts.list(state.folder)) {
    const { file, text, digest } = draft;
    const disk = state.disk[file];
    if (text === (disk?.text ?? "")) drafts.remove(state.folder, file);
    else if ((disk?.digest ?? null) === digest && !(file in state.unfit)) {
      state.files[file] = text;
      isAny = true;
    } else drafts.setAside(state.folder, draft);
  }
  drafts.listAside(state.folder).forEach(offer);
  return isAny;
}

function offer(draft) {
  const { key, file, text, time } = draft;
  const disk = state.disk[file]?.text ?? "";
  if (text === disk || file in state.unfit) return;
  const when = new Date(time).toLocaleString();
  notices.add({
    key,
    text: `There is a draft of ${file} from ${when}. The file on disk has changed since it was begun.`,
    choices: {
      "Use the draft": () => {
        drafts.removeAside(draft);
        put(file, text);
      },
      "Discard the draft": () => drafts.removeAside(draft),
    },
    compare: [disk, text, "Compare: + is the draft, - is the file on disk"],
  });
}

/** Put a text into a file of the page, as an edit. */
function put(file, text) {
  state.files[file] = text;
  keepDraft(file);
  open(file);
  renderSoon();
}

/** The file on disk is now `disk`, and so is the file on the page. */
function take(file, disk) {
  if (disk) {
    state.files[file] = disk.text;
    state.disk[file] = disk;
  } else {
    delete state.files[file];
    delete state.disk[file];
    if (state.file === file) state.file = Object.keys(state.files)[0] ?? "";
  }
  drafts.remove(state.folder, file);
  notices.dismiss(`conflict ${file}`);
}

/** A file was edited here and changed on disk: show both, and let its author choose. */
function conflict(file, disk, isSaving) {
  const mine = state.files[file];
  const keep = () => {
    if (disk) state.disk[file] = disk;
    else delete state.disk[file];
    keepDraft(file);
    draw();
  };
  const choices = {
    [isSaving ? "Save mine all the same" : "Keep mine"]: () => {
      keep();
      if (isSaving) save(file).catch(report);
    },
    "Take the one on disk": () => {
      take(file, disk);
      draw();
      renderSoon();
    },
  };
  const what = disk ? "was changed" : "was deleted";
  notices.add({
    key: `conflict ${file}`,
    text: `${file} ${what} on disk while you edited it here.${isSaving ? " It was not saved." : ""}`,
    choices,
    compare: [disk?.text ?? "", mine, "Compare: + is yours, - is the file on disk"],
    isOpen: isSaving,
  });
}

/** Go back to the file on disk; undo goes forth again. A file that is not on disk goes away. */
function revert(file) {
  take(file, state.disk[file]);
  draw();
  renderSoon();
}

async function save(file) {
  if (!state.isWritable) throw new Error("a starter is no folder on disk: make a project with function-script init");
  if (!isEdited(file)) return;
  const { opening, folder } = state;
  const text = state.files[file];
  state.writing += 1;
  const answer = await ask("/api/save", { folder, file, text, digest: state.disk[file]?.digest ?? null });
  if (opening !== state.opening) return;
  state.writing += 1;
  if ("conflict" in answer) {
    say(`${file} was not saved`, "bad");
    conflict(file, answer.conflict, true);
    return;
  }
  state.disk[file] = { text, digest: answer.digest };
  state.digests[file] = answer.digest;
  notices.dismiss(`conflict ${file}`);
  keepDraft(file);
  settle();
  draw();
  say(`saved ${file}`, "good");
}

/** Ask whether files have changed on disk, and follow them; an edited file is not touched. */
async function followDisk() {
  const { opening, writing, folder } = state;
  const isOld = () => opening !== state.opening || writing !== state.writing;
  if (!folder || !state.isWritable || document.hidden) return;
  const { digests } = await ask("/api/digests", { folder });
  const same = (one, other) => JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
  if (isOld() || same(digests, state.digests)) return;
  const answer = await ask("/api/folder", { folder });
  if (isOld()) return;
  Object.assign(state, { digests: answer.digests, unfit: answer.unfit });
  for (const file of new Set([...Object.keys(state.disk), ...Object.keys(answer.files)])) {
    const [before, now] = [state.disk[file], answer.files[file]];
    if (before?.digest === now?.digest) notices.dismiss(`conflict ${file}`);
    if (before?.digest === now?.digest || file in answer.unfit) continue;
    if (!(file in state.files) || !isEdited(file) || state.files[file] === now?.text) take(file, now);
    else conflict(file, now ?? null, false);
  }
  if (!(state.file in state.files)) state.file = Object.keys(state.files)[0] ?? "";
  draw();
  renderSoon();
}

async function poll() {
  try {
    await followDisk();
  } catch (error) {
    report(error);
  }
  setTimeout(poll, POLL_MS);
}

async function copyCase() {
  const button = $("case");
  try {
    const { case: text } = await ask("/api/case", { folder: state.folder, files: texts() });
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch (error) {
    report(error);
    button.textContent = "Not copied";
  }
  setTimeout(() => (button.textContent = "Copy as case"), 1500);
}

function listen() {
  $("folders").addEventListener("change", () => openFolder($("folders").value).catch(report));
  $("add").addEventListener("change", () => {
    const name = $("add").value;
    if (!name) return;
    state.files[name] = "";
    open(name);
    editor.go(1, 1);
  });
  $("files").addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) open(tab.dataset.file);
  });
  $("panes").addEventListener("click", (event) => {
    if (event.target.dataset.pane) {
      state.pane = event.target.dataset.pane;
      sessionStorage.setItem("pane", state.pane);
      drawPane();
    }
  });
  tabs.follow($("files"));
  tabs.follow($("panes"));
  document.querySelector("nav").addEventListener("click", (event) => event.target.dataset.view && view(event.target.dataset.view));
  $("case").addEventListener("click", copyCase);
  $("cancel").addEventListener("click", cancel);
  $("revert").addEventListener("click", () => revert(state.file));
  $("save").addEventListener("click", () => save(state.file).catch(report));
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") cancel();
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      save(state.file).catch(report);
    }
  });
  addEventListener("resize", () => state.pane === "graph" && drawPane());
}

async function start() {
  listen();
  const { root, folders } = await ask("/api/folders", {});
  drafts = new Drafts(root, () => say("the browser has no room for drafts: save to disk", "bad"));
  $("folders").replaceChildren(...folders.map((name) => new Option(name, name)));
  state.pane = sessionStorage.getItem("pane") ?? state.pane;
  const last = sessionStorage.getItem("folder");
  if (folders.includes(last)) $("folders").value = last;
  await openFolder($("folders").value);
  poll();
}

start().catch(report);
