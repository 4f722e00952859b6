// The right column: what the last check found for one task.
import { make } from "./api.js";
import { askPredictions, showCompared } from "./predict.js";

const points = p => String(Math.floor(p * 10 + 1e-6) / 10);
const score = (p, max) => make("span", { class: "points" }, `${points(p)} / ${points(max)}`);
const sign = good => make("span", { class: good ? "good" : "bad" }, good ? "✓ " : "✗ ");
const STATUS = { open: "not checked yet", passed: "passed", failed: "not passed yet", skipped: "skipped" };

function bar(p, max, label) {
  return make("progress", { max: Math.max(max, 1e-9), value: p, "aria-label": label, class: max > 0 && p >= max - 1e-9 ? "full" : "" });
}

// The gates by name, with their message where no finding below repeats it.
function gates(state, task) {
  if (task.gates.length === 0) return null;
  const told = state.findings.filter(f => f.task === task.id && !f.goal).map(f => f.what.split("\n")[0]);
  return make("ul", { "aria-label": "Gates" }, ...task.gates.map(gate => {
    const [first, ...more] = gate.message.split("\n");
    const rest = more.join("\n").trim();
    return make("li", {}, sign(gate.passed), gate.name, gate.passed || !first || told.includes(first) ? "" : `: ${first}`,
      !gate.passed && rest ? make("pre", {}, rest) : null,
      !gate.passed && gate.picture ? make("pre", { class: "picture", tabindex: 0, "aria-label": "Which elements are wrong" }, gate.picture) : null);
  }));
}

function goals(task) {
  if (task.goals.length === 0) return null;
  return make("ul", { "aria-label": "Goals" }, ...task.goals.map(goal => make("li", {},
    make("div", { class: "row" }, make("span", {}, goal.measured ? sign(goal.met) : "", goal.title || goal.id), score(goal.points, goal.max)),
    bar(goal.points, goal.max, `points of ${goal.title || goal.id}`),
    goal.value ? make("span", { class: "soft" }, goal.value) : null)));
}

// "ring.cu" and 58, where a text names that line; else nothing.
export function placeIn(text) {
  const found = /([\w.-]+\.cuh?):(\d+)/.exec(text);
  return found ? { file: found[1], line: Number(found[2]) } : {};
}

function finding(f, page) {
  const { file, line } = f.file ? f : placeIn(f.what);
  const place = file ? make("button", { type: "button", class: "place", onclick: () => page.go(file, line) }, `${file}:${line}`) : f.where;
  return make("li", { class: "card" },
    make("div", { class: "row" }, make("strong", {}, f.goal || f.gate || f.task), make("span", { class: "points" }, `${points(f.points)} to gain`)),
    make("p", {}, place, place ? " " : "", f.what), f.why ? make("p", {}, f.why) : null,
    f.lesson ? make("p", {}, make("a", { href: `#${f.lesson}` }, "In the lesson")) : null);
}

function findings(state, task, page) {
  const own = state.findings.filter(f => f.task === task.id);
  const others = state.findings.filter(f => f.task !== task.id).length;
  if (own.length === 0) return others === 0 || task.status === "open" ? null : make("p", { class: "soft" }, `${others} finding${others === 1 ? "" : "s"} in other tasks`);
  return make("div", {}, make("h3", {}, "What to look at next"), make("ul", {}, ...own.map(f => finding(f, page))));
}

function hints(task, page) {
  const { count, shown } = task.hints;
  if (count === 0) return null;
  const left = count - shown.length;
  return make("div", {}, make("h3", {}, "Hints"),
    make("ul", { "aria-label": "Hints taken" }, ...shown.map(h => make("li", { class: "card" }, h.text))),
    left > 0 && !full(task) ? make("button", { type: "button", id: "r-hint", onclick: () => page.hint() }, shown.length === 0 ? `A hint (${count})` : `One more hint (${left} left)`) : null);
}

function changes(task) {
  if (task.changes.length === 0) return null;
  return make("div", {}, make("h3", {}, "Since the attempt before"), make("ul", {}, ...task.changes.map(c =>
    make("li", { class: c.direction > 0 ? "good" : c.direction < 0 ? "bad" : "" }, c.direction > 0 ? "▲ " : c.direction < 0 ? "▼ " : "", c.text))));
}

function build(state, page) {
  if (!state.build) return null;
  return make("div", { class: "card problem" }, make("strong", {}, "It did not compile"),
    make("ul", {}, ...state.build.messages.map(m => make("li", {},
      make("button", { type: "button", class: "place", onclick: () => page.go(m.file, m.line) }, `${m.file}:${m.line}`), ` ${m.text}`))),
    make("details", { open: state.build.messages.length === 0 }, make("summary", {}, "All that the compiler said"), make("pre", { tabindex: 0, "aria-label": "The compiler's output" }, state.build.output)));
}

const full = task => task.status === "passed" && task.points >= task.max - 1e-9;

// state: of api/lab/NAME; page: go(file, line), hint(), checkNow(). `problem`: why the last check gave no result.
export function showResult(place, state, id, problem, page) {
  const task = state.tasks.find(t => t.id === id);
  place.replaceChildren(...[
    make("h2", {}, make("span", {}, task.title), score(task.points, task.max)),
    bar(task.points, task.max, `points of task ${task.id}`),
    make("p", { class: "soft" }, `${task.id}: ${full(task) ? "full marks" : STATUS[task.status]}`, task.reason ? `. ${task.reason}` : ""),
    problem ? make("div", { class: "card problem", role: "alert" }, problem) : null,
    askPredictions(state, task.id, place.querySelector("#r-predict"), page),
    build(state, page), state.build && task.gates.length > 0 ? make("h3", {}, "What the attempt before found") : null, gates(state, task), goals(task), findings(state, task, page), showCompared(state, task.id), changes(task),
    task.output ? make("details", {}, make("summary", {}, "What your code printed"), make("pre", { tabindex: 0, "aria-label": "Output" }, task.output)) : null,
    hints(task, page),
  ].filter(Boolean));
}

// One sentence for a screen reader.
export function toldResult(state, id) {
  const task = state.tasks.find(t => t.id === id);
  if (state.build) return "It did not compile.";
  const first = state.findings.find(f => f.task === id);
  return `${task.title}: ${STATUS[task.status]}, ${points(task.points)} of ${points(task.max)} points. ${first ? first.what : ""}`;
}

export function showTasks(nav, total, state, id, choose) {
  const glyph = task => (full(task) ? "✓" : task.status === "open" ? "○" : task.status === "skipped" ? "–" : task.status === "passed" ? "✓" : "✗");
  nav.replaceChildren(...state.tasks.map((task, i) => make("button", {
    type: "button", "data-task": task.id, "aria-current": task.id === id ? "true" : null, title: `Alt-${i + 1}`,
    "aria-label": `${task.id}: ${STATUS[task.status]}, ${points(task.points)} of ${points(task.max)} points`, onclick: () => choose(task.id),
  }, make("span", { class: task.status === "passed" ? "good" : task.status === "failed" ? "bad" : "soft" }, glyph(task) + " "), task.id)));
  total.replaceChildren(`${points(state.points)} / ${points(state.max)}`);
  total.setAttribute("title", "points of this lab");
}
