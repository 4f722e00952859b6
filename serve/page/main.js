// The page: chooses lab and task, and passes what happens between lesson, editor and result.
import { ask, listen, make } from "./api.js";
import { showAttempts } from "./attempts.js";
import { defineCuda, Editor } from "./editor.js";
import { drawLesson, fetchLesson, goTo } from "./lesson.js";
import { startLineView } from "./line_view.js";
import { OpenFiles, tellFailure } from "./open_files.js";
import { Panels } from "./panels.js";
import { keepPredictions } from "./predict.js";
import { showQuiz } from "./quiz.js";
import { placeIn, showResult, showTasks, toldResult } from "./result.js";
import { remember } from "./proof.js";
import { setOwner } from "./saving.js";
import { keep, kept, startSettings } from "./settings.js";
import { claimTab } from "./tabs.js";
import { closeViz, openViz, vizIsOpen, vizThemeChanged } from "./viz_tab.js";

const MOST_NOTE = 400; // characters on a line
const at = id => document.getElementById(`r-${id}`);

defineCuda();
const editor = new Editor(at("editor"));
let lab = "", state = null, task = "", problem = "", noted = "";
let files = new OpenFiles("");
let running = null; // { lab, task } of the check that runs
let asked = ""; // the task whose predictions the last Ctrl-Enter has led to
let opening = 0; // the number of the last wish to open a lab
const page = {
  go: goToLine, hint: takeHint, checkNow: () => check(task, true), goTo: anchor => goTo(at("lesson"), anchor),
  get lab() { return lab; }, get task() { return task; }, get file() { return files.open; },
};
const panels = new Panels({ attempts: () => tell(showAttempts(at("attempts"), page), "attempts"), quiz: () => tell(showQuiz(at("quiz"), page), "quiz") });
const tell = (promise, place) => promise.catch(e => at(place).replaceChildren(make("p", { class: "bad" }, e.message)));

const lineView = startLineView(editor, page);

function showFile(name) {
  const file = files.get(name);
  if (!file) return;
  files.open = file;
  editor.show(file);
  at("files").replaceChildren(...files.names().map(other => make("button", {
    type: "button", "aria-pressed": String(other === name), onclick: () => { showFile(other); editor.focus(); },
  }, other)));
  at("files").querySelector("[aria-pressed=true]").scrollIntoView({ inline: "nearest", block: "nearest" });
  files.showSaved();
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
  for (const t of state.tasks) // what a gate says of a line
    for (const gate of t.gates.filter(g => !g.passed)) {
      const { file, line } = placeIn(gate.message);
      if (file === t.file && judgedNow(file, t.judged)) notes.push({ doc: files.get(file).doc, line, label: gate.name, text: gate.message.replace(/\s+/g, " ").slice(0, MOST_NOTE) });
    }
  for (const m of state.build?.messages ?? [])
    if (judgedNow(m.file, state.attempt.files[m.file])) notes.push({ doc: files.get(m.file).doc, line: m.line, label: "compiler", text: m.text });
  editor.note(notes);
  lineView.refresh();
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
  const isNew = judged !== noted;
  if (isNew) noteLines();
  noted = judged;
  show();
  if (isNew) panels.refresh();
}

function chooseTask(id) {
  task = id;
  problem = asked = "";
  const spec = state.tasks.find(t => t.id === id);
  showFile(spec.file);
  goTo(at("lesson"), spec.lesson);
  keep(`ridge-task:${lab}`, id);
  show();
  if (panels.chosen === "attempts") panels.refresh();
}

// All of another lab is fetched before anything of it is shown. Nothing changes where a text is not saved, or where the
// reader has chosen yet another lab meanwhile.
async function openLab(name) {
  const mine = ++opening;
  const stays = why => {
    if (mine !== opening) return;
    if (lab) at("lab").value = lab;
    problem = why;
    show();
  };
  const unsaved = await files.save();
  if (mine !== opening) return;
  if (unsaved) return stays(`Lab ${state.number} stays open: ${unsaved.name} is not saved. The line above the editor says why.`);
  const next = new OpenFiles(name);
  try {
    let fresh = await ask("GET", `api/lab/${name}`);
    if (!fresh.started) {
      await ask("POST", `api/lab/${name}/start`);
      fresh = await ask("GET", `api/lab/${name}`);
    }
    const [lesson] = await Promise.all([fetchLesson(name), next.load(fresh.files.map(f => f.name))]);
    const typed = await files.save(); // while it was loading
    if (mine !== opening) return next.end();
    if (typed) return next.end(), stays(`Lab ${state.number} stays open: ${typed.name} is not saved. The line above the editor says why.`);
    files.end();
    files = next, lab = name, state = fresh, problem = next.problem;
    history.replaceState(null, "", `?lab=${lab}${location.hash}`);
    drawLesson(at("lesson"), lesson);
  } catch (e) {
    next.end();
    if (!state) throw e;
    return stays(`Lab ${name} cannot be opened: ${e.message}`);
  }
  at("lab").value = lab;
  document.title = `${state.number} ${state.title} - Ridge`;
  const before = kept(`ridge-task:${lab}`);
  task = state.tasks.some(t => t.id === before) ? before : state.next || state.tasks[0].id;
  showFile(state.tasks.find(t => t.id === task).file);
  noteLines();
  noted = `${lab} ${state.attempt?.id}`;
  panels.choose("result");
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
  const here = lab;
  if (form && await keepPredictions(at("shown"), here)) return;
  const unsaved = await files.save();
  if (lab !== here) return; // the reader has gone on to another lab
  if (unsaved) {
    problem = "Not checked: a file is not saved. The line above the editor says why.";
    return show();
  }
  panels.choose("result");
  try {
    await ask("POST", `api/lab/${here}/check`, { task: which });
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
    at("shown").scrollTop = 0;
  }
  show();
  showLabs().catch(() => {});
  at("told").textContent = problem || toldResult(state, task);
}

listen((kind, data) => {
  if (kind === "hello") {
    if (data.running) step(data);
    else if (running) { running = null; at("step").textContent = ""; if (state) show(); }
    tellFailure("");
    files.showSaved();
    if (state) refresh();
    for (const f of files.list()) f.savedElsewhere("");
  }
  if (!state) return;
  if (kind === "step") step(data);
  if (kind === "ended") ended(data);
  if (kind === "lab" && data.lab === lab && !running) refresh();
  if (kind === "file" && data.lab === lab) files.get(data.file)?.savedElsewhere(data.version);
}, tellFailure);

// ---- keys and settings

const columns = () => [at("lesson"), editor, panels.panel];
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
    F4: viz, "Ctrl-s": () => files.open?.save(),
  }[key] ?? (number && state?.tasks[number[1] - 1] ? () => { chooseTask(state.tasks[number[1] - 1].id); } : null);
  if (!action || at("keys").open || (vizIsOpen() && key !== "F4")) return; // the visualizer has keys of its own
  e.preventDefault();
  e.stopPropagation();
  action();
}, true);

function viz() {
  if (vizIsOpen()) closeViz();
  else if (state) openViz(state.tasks.find(t => t.id === task), () => { editor.refresh(); at("open-viz").focus(); });
}

startSettings(editor, vizThemeChanged);
CodeMirror.commands.save = () => files.open?.save();
at("open-viz").addEventListener("click", viz);
at("viz-close").addEventListener("click", viz);
at("check").addEventListener("click", () => check(task));
at("check-all").addEventListener("click", () => check(""));
at("stop").addEventListener("click", stop);
at("mine").addEventListener("click", () => { files.open.resolve(true); editor.focus(); });
at("theirs").addEventListener("click", () => { files.open.resolve(false); editor.focus(); });
at("lab").addEventListener("change", () => openLab(at("lab").value));
at("shown").addEventListener("click", e => { // the lesson's column scrolls also where the address has the anchor already
  const link = e.target.closest("a[href^='#']");
  if (link) { e.preventDefault(); goTo(at("lesson"), link.getAttribute("href").slice(1)); }
});
addEventListener("beforeunload", e => { if (files.inTrouble()) e.preventDefault(); });
// A page that is left has not half a second to wait.
addEventListener("pagehide", () => files.leave());
document.addEventListener("visibilitychange", () => { if (document.hidden) files.leave(); });

async function showLabs() {
  const { labs, first, owner, proof } = await ask("GET", "api/labs");
  setOwner(owner);
  remember(proof);
  at("lab").replaceChildren(...labs.map(l => make("option", { value: l.name }, `${l.number} ${l.title} (${Math.floor(l.points)} / ${Math.floor(l.max)})`)));
  if (lab) at("lab").value = lab;
  return { labs, first };
}

const [{ labs, first }] = await Promise.all([showLabs(), claimTab()]);
const wanted = new URLSearchParams(location.search).get("lab");
const known = name => labs.some(l => l.name === name);
const latest = labs.filter(l => l.started && !l.passed).sort((a, b) => (a.last < b.last ? 1 : -1))[0];
await openLab(known(wanted) ? wanted : known(first) ? first : (latest ?? labs.find(l => !l.passed) ?? labs[0]).name);
