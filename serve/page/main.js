// The page: chooses lab and task, and passes what happens between lesson, editor and result.
import { ask, listen, make } from "./api.js";
import { defineCuda, Editor } from "./editor.js";
import { goTo, showLesson } from "./lesson.js";
import { keepPredictions } from "./predict.js";
import { showResult, showTasks, toldResult } from "./result.js";
import { SavedFile } from "./saving.js";

const at = id => document.getElementById(`r-${id}`);
const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* only for this visit then */ } };
const kept = key => { try { return localStorage.getItem(key); } catch { return null; } };

defineCuda();
const editor = new Editor(at("editor"));
let lab = "", state = null, task = "", open = null, problem = "", noted = "";
let running = null; // { lab, task } of the check that runs
const files = new Map();
const page = { go: goToLine, hint: takeHint, checkNow: () => check(task, true) };
let asked = ""; // the task whose predictions the last Ctrl-Enter has led to

// ---- files

const SAID = { saved: "saved", dirty: "", saving: "saving", conflict: "not saved", failed: "not saved" };

function showSaved() {
  const worst = [...files.values()].find(f => f.state === "failed" || f.state === "conflict") ?? open;
  if (!worst) return;
  if (at("saved").textContent !== SAID[worst.state]) at("saved").textContent = SAID[worst.state];
  at("saved").className = worst.state === "failed" || worst.state === "conflict" ? "bad" : "soft";
  const failed = [...files.values()].find(f => f.state === "failed");
  tellFailure(failed ? `${failed.name} is not saved: ${failed.why}. Its text is kept in this browser, and the page tries again.` : "");
  const conflict = open?.state === "conflict";
  if (at("conflict").hidden === conflict) at("conflict").hidden = !conflict;
  if (conflict) at("conflict-text").textContent = `${open.why}. Which text shall stay?`;
}

function tellFailure(text) {
  if (at("failed").textContent !== text) at("failed").textContent = text;
  at("failed").hidden = text === "";
}

async function loadFiles() {
  files.clear();
  for (const { name } of state.files) {
    try {
      files.set(name, new SavedFile(lab, name, await ask("GET", `api/lab/${lab}/file/${name}`), showSaved));
    } catch (e) {
      problem = e.message;
    }
  }
}

function showFile(name) {
  const file = files.get(name);
  if (!file) return;
  open = file;
  editor.show(file);
  at("files").replaceChildren(...[...files.keys()].map(other => make("button", {
    type: "button", "aria-pressed": String(other === name), onclick: () => { showFile(other); editor.focus(); },
  }, other)));
  showSaved();
}

function goToLine(file, line) {
  showFile(file);
  editor.go(line);
}

// Findings lie on the lines of the text that was judged: on none where the file is another by now.
function noteLines() {
  const notes = [];
  const judgedNow = (name, hash) => files.get(name)?.base === hash && files.get(name).state === "saved";
  for (const f of state.findings) {
    const spec = state.tasks.find(t => t.id === f.task);
    if (f.file && spec.judged && judgedNow(f.file, spec.judged)) notes.push({ doc: files.get(f.file).doc, line: f.line, label: f.goal || f.gate, text: f.what });
  }
  for (const m of state.build?.messages ?? [])
    if (judgedNow(m.file, state.attempt.files[m.file])) notes.push({ doc: files.get(m.file).doc, line: m.line, label: "compiler", text: m.text });
  editor.note(notes);
}

// ---- what is shown

function show() {
  showTasks(at("tasks"), at("points"), state, task, chooseTask);
  const before = document.activeElement, inside = at("shown").contains(before);
  showResult(at("shown"), state, task, problem, page);
  if (inside && before.isConnected && before !== document.body) before.focus({ preventScroll: true });
  else if (inside) at("shown").focus({ preventScroll: true }); // what had the focus is gone
  at("check").disabled = at("check-all").disabled = running !== null;
  at("check").textContent = `Check ${task}`;
  at("stop").hidden = running === null;
}

async function refresh() {
  const asked = lab;
  const fresh = await ask("GET", `api/lab/${lab}`).catch(() => null);
  if (!fresh || asked !== lab || JSON.stringify(fresh) === JSON.stringify(state)) return; // focus and open details stay
  state = fresh;
  const judged = `${lab} ${state.attempt?.id}`;
  if (judged !== noted) noteLines();
  noted = judged;
  show();
}

function chooseTask(id) {
  task = id;
  problem = asked = "";
  const spec = state.tasks.find(t => t.id === id);
  showFile(spec.file);
  goTo(at("lesson"), spec.lesson);
  keep(`ridge-task:${lab}`, id);
  show();
}

async function openLab(name) {
  await Promise.all([...files.values()].map(f => f.save()));
  lab = name;
  problem = noted = "";
  history.replaceState(null, "", `?lab=${lab}${location.hash}`);
  state = await ask("GET", `api/lab/${lab}`);
  if (!state.started) {
    await ask("POST", `api/lab/${lab}/start`);
    state = await ask("GET", `api/lab/${lab}`);
  }
  document.title = `${state.number} ${state.title} - Ridge`;
  await Promise.all([loadFiles(), showLesson(at("lesson"), lab)]);
  const before = kept(`ridge-task:${lab}`);
  task = state.tasks.some(t => t.id === before) ? before : state.next || state.tasks[0].id;
  showFile(state.tasks.find(t => t.id === task).file);
  noteLines();
  noted = `${lab} ${state.attempt?.id}`;
  show();
}

// ---- checks and hints

// The first time, a task's open predictions are shown; the second time, or with `now`, what is typed there is kept.
async function check(which, now = false) {
  if (running) return;
  problem = "";
  const form = at("predict");
  if (form && which === task && !now && asked !== task && !form.contains(document.activeElement)) {
    asked = task;
    form.scrollIntoView({ block: "nearest" });
    form.querySelector("input").focus();
    return;
  }
  if (form && await keepPredictions(at("shown"), lab)) return;
  const saved = await Promise.all([...files.values()].map(f => f.save()));
  if (saved.includes(false)) {
    problem = "Not checked: a file is not saved. The line above the editor says why.";
    return show();
  }
  try {
    await ask("POST", `api/lab/${lab}/check`, { task: which });
  } catch (e) {
    problem = e.message;
    show();
  }
}

async function takeHint() {
  await ask("POST", `api/lab/${lab}/hint`, { task }).catch(e => { problem = e.message; });
  await refresh();
  at("hint")?.focus();
}

function stop() {
  if (running) ask("POST", "api/stop").catch(() => {});
}

function step(data) {
  running = { lab: data.lab, task: data.task };
  at("step").textContent = data.text ?? data.step;
  if (at("stop").hidden) {
    at("told").textContent = "The check has begun";
    show();
  }
}

async function ended(data) {
  running = null;
  at("step").textContent = data.outcome === "stopped" ? "stopped" : `${data.seconds.toFixed(1)} s`;
  if (data.lab === lab) {
    problem = data.outcome === "failed" ? data.text : data.outcome === "stopped" ? "The check was stopped; nothing was judged." : "";
    await refresh();
  }
  show();
  showLabs().catch(() => {});
  at("told").textContent = problem || toldResult(state, task);
}

listen((kind, data) => {
  if (kind === "hello") {
    if (data.running) step(data);
    else if (running) { running = null; at("step").textContent = ""; if (state) show(); }
    showSaved();
    if (state) refresh();
    for (const f of files.values()) f.savedElsewhere("");
  }
  if (!state) return;
  if (kind === "step") step(data);
  if (kind === "ended") ended(data);
  if (kind === "lab" && data.lab === lab && !running) refresh();
  if (kind === "file" && data.lab === lab) files.get(data.file)?.savedElsewhere(data.version);
}, () => tellFailure("The server does not answer. Your text is kept in this browser. Start ./ridge serve again: this page then goes on."));

// ---- keys and settings

const columns = () => [at("lesson"), editor, at("shown")];
function nextColumn(by) {
  const inside = [at("lesson"), at("work"), at("result")].findIndex(c => c.contains(document.activeElement));
  columns()[(inside + by + 3) % 3].focus();
}

document.addEventListener("keydown", e => {
  const key = `${e.ctrlKey || e.metaKey ? "Ctrl-" : ""}${e.altKey ? "Alt-" : ""}${e.shiftKey ? "Shift-" : ""}${e.key}`;
  const number = /^Alt-([1-9])$/.exec(key);
  const action = {
    "Ctrl-Enter": () => check(task), "Ctrl-Shift-Enter": () => check(""), "Ctrl-.": stop, F1: () => at("keys").showModal(),
    F2: () => state && takeHint(), F6: () => nextColumn(1), "Shift-F6": () => nextColumn(-1),
    "Ctrl-s": () => open?.save(),
  }[key] ?? (number && state?.tasks[number[1] - 1] ? () => { chooseTask(state.tasks[number[1] - 1].id); } : null);
  if (!action || at("keys").open) return;
  e.preventDefault();
  e.stopPropagation();
  action();
}, true);

function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
}
at("theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  theme(now === "dark" ? "light" : "dark");
  keep("ridge-theme", document.documentElement.dataset.theme);
});
theme(kept("ridge-theme"));

at("keymap").value = kept("ridge-keymap") ?? "default";
editor.keymap = at("keymap").value || "default";
at("keymap").addEventListener("change", () => { editor.keymap = at("keymap").value; keep("ridge-keymap", at("keymap").value); });
CodeMirror.commands.save = () => open?.save();

at("help").addEventListener("click", () => at("keys").showModal());
at("check").addEventListener("click", () => check(task));
at("check-all").addEventListener("click", () => check(""));
at("stop").addEventListener("click", stop);
at("mine").addEventListener("click", () => { open.resolve(true); editor.focus(); });
at("theirs").addEventListener("click", () => { open.resolve(false); editor.focus(); });
at("lab").addEventListener("change", () => openLab(at("lab").value));
at("shown").addEventListener("click", e => { // the lesson's column scrolls also where the address has the anchor already
  const link = e.target.closest("a[href^='#']");
  if (link) { e.preventDefault(); goTo(at("lesson"), link.getAttribute("href").slice(1)); }
});
addEventListener("beforeunload", e => { if ([...files.values()].some(f => f.state === "failed" || f.state === "conflict")) e.preventDefault(); });

async function showLabs() {
  const { labs, first } = await ask("GET", "api/labs");
  at("lab").replaceChildren(...labs.map(l => make("option", { value: l.name }, `${l.number} ${l.title} (${Math.floor(l.points)} / ${Math.floor(l.max)})`)));
  if (lab) at("lab").value = lab;
  return { labs, first };
}

const { labs, first } = await showLabs();
const wanted = new URLSearchParams(location.search).get("lab");
const known = name => labs.some(l => l.name === name);
const latest = labs.filter(l => l.started && !l.passed).sort((a, b) => (a.last < b.last ? 1 : -1))[0];
await openLab(known(wanted) ? wanted : known(first) ? first : (latest ?? labs.find(l => !l.passed) ?? labs[0]).name);
at("lab").value = lab;
