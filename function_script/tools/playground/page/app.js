// The page: what is typed goes to the server after a moment, what it renders to comes back.

import { Editor } from "./editor.js";
import * as panes from "./panes.js";

const DELAY_MS = 120;
const ADDABLE = ["observed.yaml", "required.yaml"];
const $ = (id) => document.getElementById(id);

const state = { files: {}, file: "", pane: "documents", problems: [], shown: null, last: null, first: null, since: "last", folded: new Set() };
let asked = 0;
let timer = 0;

const editor = new Editor($("editor"), (text) => {
  state.files[state.file] = text;
  say("…", "");
  clearTimeout(timer);
  timer = setTimeout(render, DELAY_MS);
});

async function ask(path, query) {
  let answer;
  try {
    answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(query) });
  } catch {
    throw new Error("the playground has ended: start it again");
  }
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

function say(text, kind) {
  $("state").textContent = text;
  $("state").dataset.state = kind;
}

async function render() {
  const number = (asked += 1);
  let found;
  try {
    found = await ask("/api/render", { files: state.files });
  } catch (error) {
    say(error.message, "bad");
    return;
  }
  if (number !== asked) return; // something newer is under way
  state.problems = found.problems;
  if (!found.problems.length) {
    if (state.shown && text(found) !== text(state.shown)) state.last = state.shown;
    state.shown = found;
    state.first ??= found;
    state.last ??= found;
  }
  const count = found.problems.length;
  say(count ? `${count} problem${count > 1 ? "s" : ""}` : `rendered in ${found.milliseconds} ms`, count ? "bad" : "good");
  draw();
}

const text = (shown) => JSON.stringify(shown.documents);

function draw() {
  drawFiles();
  const here = state.problems.filter((problem) => problem.file === state.file && problem.line);
  editor.show(state.file, state.files[state.file] ?? "", here);
  $("problems").replaceChildren(...panes.problems(state.problems, go));
  drawPane();
}

function drawFiles() {
  const bad = new Set(state.problems.map((problem) => problem.file));
  const names = Object.keys(state.files);
  const tabs = names.map((name) => tab(name, name === state.file, bad.has(name) ? "bad" : "", () => open(name)));
  const missing = ADDABLE.filter((name) => !(name in state.files));
  const adders = missing.map((name) => tab(`+ ${name}`, false, "", () => { state.files[name] = ""; open(name); }));
  $("files").replaceChildren(...tabs, ...adders);
}

function tab(label, selected, kind, choose) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", textContent: label, className: kind, onclick: choose });
  made.setAttribute("role", "tab");
  made.setAttribute("aria-selected", selected);
  return made;
}

function drawPane() {
  const choose = (since) => { state.since = since; drawPane(); };
  for (const button of $("panes").children) {
    button.setAttribute("aria-selected", button.dataset.pane === state.pane);
    const changed = button.dataset.pane === "changes" && state.shown && text(state.shown) !== text(state.first);
    button.className = changed ? "changed" : "";
  }
  $("pane").className = state.problems.length ? "stale" : "";
  $("pane").replaceChildren(...panes.pane(state.pane, { ...state, choose }));
}

function open(name) {
  state.file = name;
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

async function openFolder(name) {
  const { files } = await ask("/api/folder", { name });
  Object.assign(state, { files, file: Object.keys(files)[0], problems: [], shown: null, last: null, first: null });
  state.folded.clear();
  draw();
  await render();
}

async function copyCase() {
  const button = $("case");
  try {
    const { case: made } = await ask("/api/case", { files: state.files });
    await navigator.clipboard.writeText(made);
    button.textContent = "Copied";
  } catch (error) {
    say(error.message, "bad");
    button.textContent = "Not copied";
  }
  setTimeout(() => (button.textContent = "Copy as case"), 1500);
}

async function start() {
  const { folders } = await ask("/api/folders", {});
  $("folders").replaceChildren(...folders.map((name) => new Option(name, name)));
  $("folders").addEventListener("change", () => openFolder($("folders").value));
  $("panes").addEventListener("click", (event) => {
    if (event.target.dataset.pane) {
      state.pane = event.target.dataset.pane;
      drawPane();
    }
  });
  document.querySelector("nav").addEventListener("click", (event) => view(event.target.dataset.view));
  $("case").addEventListener("click", copyCase);
  await openFolder(folders[0]);
}

start().catch((error) => say(error.message, "bad"));
