// The attempts: their way under the roofline, what changed between them, and the way back to the text that was judged.
import { ask, fetchText, make } from "./api.js";

function diffLines(file) {
  if (!file.known) return make("p", { class: "soft" }, "The text of this attempt is no longer kept.");
  return make("pre", { class: "diff", tabindex: 0, role: "region", "aria-label": `Changes of ${file.name}` }, ...file.lines.map(line =>
    make("span", { class: { "+": "added", "-": "removed", "@": "gap" }[line.kind] },
      line.kind === "@" ? "⋯\n" : `${String(line.kind === "-" ? line.before : line.after).padStart(4)} ${line.kind} ${line.text}\n`)));
}

function diffOf(files) {
  if (files.length === 0) return make("p", { class: "soft" }, "No file differs.");
  return make("div", {}, ...files.map(f => make("div", {}, make("p", { class: "row" }, make("strong", {}, f.name), make("span", { class: "soft" }, `+${f.added} −${f.removed}`)), diffLines(f))));
}

function comparison(title, address, open = false) {
  const inside = make("div", {});
  const details = make("details", { class: "card", open }, make("summary", {}, title), inside);
  const load = async () => {
    if (!details.open || inside.dataset.loaded) return;
    inside.dataset.loaded = "yes";
    try {
      inside.replaceChildren(diffOf((await ask("GET", address)).files));
    } catch (e) {
      inside.replaceChildren(make("p", { class: "bad" }, e.message));
    }
  };
  details.addEventListener("toggle", load);
  load();
  return details;
}

async function path(lab, task) {
  const svg = await fetchText(`api/lab/${lab}/path?task=${encodeURIComponent(task)}`).catch(() => "");
  if (!svg) return null;
  const figure = make("figure", {}, make("figcaption", {}, "This task's attempts under the roofline, by number: hollow points are counted, full ones timed"));
  figure.insertAdjacentHTML("afterbegin", svg); // of the server's own making: numbers, and the lab's names
  return figure;
}

// page: { lab, task, file }
export async function showAttempts(place, page) {
  const { lab, task } = page;
  const base = `api/lab/${lab}`;
  const { attempts } = await ask("GET", `${base}/attempts`);
  const figure = await path(lab, task);
  if (page.lab !== lab || page.task !== task) return;
  if (attempts.length === 0) return place.replaceChildren(make("p", { class: "soft" }, "No check yet. Each one is kept here, with its text."));
  const says = make("p", { class: "soft", role: "status" });
  const back = make("button", { type: "button", id: "r-back", onclick: async () => {
    const file = page.file;
    try {
      const { text } = await ask("GET", `${base}/judged?file=${encodeURIComponent(file.name)}`);
      if (page.file !== file || file.ended) return; // the reader has gone on to another file
      const changes = file.text !== text;
      if (changes) file.replace(text);
      says.textContent = changes ? `${file.name} is as it was checked last; undo in the editor takes this back.` : `${file.name} has not changed since.`;
    } catch (e) {
      says.textContent = e.message;
    }
  } }, "Back to the text of the last check");
  place.replaceChildren(...[back, says,
    comparison("Since the last check", `${base}/diff?from=${attempts[0].id}`, true), figure, make("h3", {}, `Attempts (${attempts.length})`),
    ...attempts.map((a, i) => {
      const title = `${attempts.length - i}. ${a.title}${a.note ? `: ${a.note}` : ""}`;
      const before = attempts[i + 1];
      return before ? comparison(title, `${base}/diff?from=${before.id}&to=${a.id}`) : make("p", { class: "card" }, title);
    })].filter(Boolean));
}
