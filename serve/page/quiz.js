// The lab's quiz: an answer is marked at once, with the reason.
import { ask, make } from "./api.js";

const letter = i => String.fromCharCode(97 + i);

// `a` as code, as in a lesson.
const withCode = text => text.split("`").map((part, i) => (i % 2 === 1 ? make("code", {}, part) : part));

function field(q) {
  if (q.kind === "choice")
    return make("ol", { class: "choices" }, ...q.items.map((text, i) => make("li", {}, make("label", {}, make("input", { type: "radio", name: `quiz-${q.id}`, value: i + 1 }), ` ${text}`))));
  return make("label", {}, make("span", { class: "hidden" }, "Your answer"), make("input", { type: "text", autocomplete: "off", size: 12 }), ` ${q.unit || q.asks}`);
}

function standing(q) {
  if (q.right === null) return null;
  return make("p", { class: q.right ? "good" : "bad" }, `${q.right ? "✓" : "✗"} ${q.answer}`);
}

function card(q, number, lab, go) {
  const told = make("div", { role: "status" }, standing(q));
  const form = make("form", { class: "card", "data-question": q.id, "aria-label": `Question ${number}` },
    make("p", {}, make("strong", {}, `${number}. `), ...withCode(q.ask)),
    q.code.length > 0 ? make("pre", { tabindex: 0, role: "region", "aria-label": "Code" }, q.code.map((line, i) => `${String(i + 1).padStart(3)}  ${line}`).join("\n")) : null,
    q.kind === "order" ? make("ul", {}, ...q.items.map((text, i) => make("li", {}, `${letter(i)}  ${text}`))) : null,
    field(q), make("p", {}, make("button", {}, q.right === null ? "Answer" : "Answer again")), told);
  form.addEventListener("submit", async e => {
    e.preventDefault();
    const chosen = form.querySelector("input[type=radio]:checked") ?? form.querySelector("input[type=text]");
    const answer = chosen?.value ?? "";
    if (!answer.trim()) return told.replaceChildren(make("p", { class: "soft" }, "No answer yet."));
    try {
      const m = await ask("POST", `api/lab/${lab}/quiz`, { id: q.id, answer });
      told.replaceChildren(make("p", { class: m.right ? "good" : "bad" }, m.right ? "Right." : "No."), make("p", {}, m.why),
        ...(m.lesson ? [make("p", {}, make("button", { type: "button", class: "place", onclick: () => go(m.lesson) }, "In the lesson"))] : []));
    } catch (error) {
      told.replaceChildren(make("p", { class: "bad" }, error.message));
    }
  });
  return form;
}

// page: { lab, goTo(anchor) }
export async function showQuiz(place, page) {
  const { lab } = page;
  const { questions } = await ask("GET", `api/lab/${lab}/quiz`);
  if (page.lab !== lab || place.dataset.lab === lab) return; // it is drawn once, so that no typed text is lost
  place.dataset.lab = lab;
  place.replaceChildren(...(questions.length === 0 ? [make("p", { class: "soft" }, "This lab has no quiz.")] : [
    make("p", { class: "soft" }, "There are no points. Each answer comes with its reason."),
    ...questions.map((q, i) => card(q, i + 1, lab, page.goTo))]));
}
