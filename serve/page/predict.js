// What a student expects before a task runs for the first time, and how it compares with what was measured.
import { ask, make } from "./api.js";

const openOnes = (state, task) => state.predictions.filter(p => p.task === task && p.open);

function field(p) {
  if (p.choices.length === 0)
    return make("label", {}, make("span", { class: "hidden" }, "Your answer"), make("input", { type: "text", "data-prediction": p.id, autocomplete: "off", size: 12 }), p.unit ? ` ${p.unit}` : "");
  return make("ol", { class: "choices" }, ...p.choices.map((text, i) => make("li", {}, make("label", {}, make("input", { type: "radio", name: `predict-${p.id}`, value: i + 1, "data-prediction": p.id }), ` ${text}`))));
}

// The questions that are open, or null. They are built once, so that a redraw loses no typed text.
export function askPredictions(state, task, drawn, page) {
  const open = openOnes(state, task);
  if (open.length === 0) return null;
  const ids = open.map(p => p.id).join(" ");
  if (drawn?.dataset.ids === ids) return drawn;
  const form = make("form", { class: "card", id: "r-predict", "data-ids": ids, "aria-label": "What do you expect?" },
    make("strong", {}, "Before the first run: what do you expect?"), make("p", { class: "soft" }, "A guess will do, and there are no points. A check without an answer skips the question."),
    ...open.map(p => make("div", {}, make("p", {}, p.ask), field(p))),
    make("p", { class: "bad", role: "alert", id: "r-predict-problem" }),
    make("button", {}, "Answer, and check"));
  form.addEventListener("submit", e => { e.preventDefault(); page.checkNow(); });
  return form;
}

// Sends what was typed; unanswered questions are skipped. Resolves to a problem, or to an empty text.
export async function keepPredictions(place, lab) {
  const form = place.querySelector("#r-predict");
  for (const id of form?.dataset.ids.split(" ") ?? []) {
    const inputs = [...form.querySelectorAll(`[data-prediction="${id}"]`)];
    const answer = inputs[0].type === "radio" ? inputs.find(i => i.checked)?.value ?? "" : inputs[0].value;
    try {
      await ask("POST", `api/lab/${lab}/predict`, { id, answer });
    } catch (e) {
      form.querySelector("#r-predict-problem").textContent = e.message;
      inputs[0].focus();
      return e.message;
    }
  }
  form?.remove();
  return "";
}

export function showCompared(state, task) {
  const told = state.predictions.filter(p => p.task === task && !p.open);
  if (told.length === 0) return null;
  return make("div", {}, make("h3", {}, "Predicted and measured"), make("ul", {}, ...told.map(p => make("li", { class: "card" },
    make("p", { class: "soft" }, p.ask), make("p", { class: p.comparison ? (p.near ? "good" : "bad") : "soft" }, p.comparison || `${p.answer} predicted; not measured yet`), p.why ? make("p", {}, p.why) : null))));
}
