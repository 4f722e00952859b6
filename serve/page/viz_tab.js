// The visualizer over the whole page, on the files of the task's last result.
import { make } from "./api.js";
import { proved } from "./proof.js";
import { isDark } from "./settings.js";

const at = id => document.getElementById(`r-${id}`);
let drawn = null, closed = () => {};

const say = text => { at("viz-says").textContent = text; };

async function problemOf(address) {
  const answer = await proved().then(() => fetch(address)).catch(() => null);
  if (answer?.status === 426) return ""; // only the upgrade is missing
  return (await answer?.json().catch(() => null))?.problem ?? "the server does not answer";
}

async function show(view) {
  drawn?.close();
  drawn = null;
  for (const button of at("viz-views").children) button.setAttribute("aria-pressed", String(button.dataset.file === view.file));
  const address = `api/viz?file=${encodeURIComponent(view.file)}`;
  const problem = await problemOf(address);
  if (problem) return say(problem);
  const canvas = make("canvas", { id: "r-viz-canvas" }); // a canvas keeps its context: each view has one of its own
  at("viz-place").replaceChildren(canvas);
  try {
    const { openVisualizer } = await import("./viz/viz.js");
    drawn = openVisualizer(canvas, address, { name: view.name, dark: isDark, say, known: proved });
    canvas.focus();
  } catch {
    say("the visualizer's page is not built here");
  }
}

export const vizIsOpen = () => !at("viz").hidden;
export const vizThemeChanged = () => drawn?.theme();

// task: of api/lab/NAME.
export function openViz(task, whenClosed) {
  closed = whenClosed;
  document.querySelector("main").hidden = true;
  at("viz").hidden = false;
  at("viz-title").textContent = task.title;
  at("viz-views").replaceChildren(...task.views.map(view => make("button", { type: "button", "data-file": view.file, "aria-pressed": "false", onclick: () => show(view) }, view.name)));
  at("viz-close").focus();
  if (task.views.length > 0) show(task.views[0]);
  else say("There is nothing to show yet: check the task first.");
}

export function closeViz() {
  drawn?.close();
  drawn = null;
  at("viz-place").replaceChildren();
  at("viz").hidden = true;
  document.querySelector("main").hidden = false;
  say("");
  closed();
}
