// The instructor's page of a lab: each new report is loaded behind the one that is shown, and takes its place once it is
// scrolled, sorted and unfolded as that one was.
import { listen, make } from "./api.js";

const at = id => document.getElementById(`r-${id}`);
let shown = null, number = 0;

function say(text, bad = false) {
  at("says").textContent = text;
  at("says").className = bad ? "bad" : "";
}

const inside = frame => frame.contentDocument;
const heads = frame => [...inside(frame).querySelectorAll("table.sortable thead th")];
const unfolded = frame => [...inside(frame).querySelectorAll("details")];
const key = details => `${details.closest("section")?.querySelector("h2")?.textContent} ${details.closest("tr")?.cells[0].textContent}`;

// What the reader has done to a report, done to another one.
function likewise(from, to) {
  for (const head of heads(from).filter(h => h.getAttribute("aria-sort"))) {
    const same = heads(to).find(h => h.textContent === head.textContent);
    for (let i = 0; i < 2 && same && same.getAttribute("aria-sort") !== head.getAttribute("aria-sort"); ++i) same.querySelector("button")?.click();
  }
  const open = new Set(unfolded(from).filter(d => d.open).map(key));
  for (const details of unfolded(to)) details.open = open.has(key(details));
  const boxes = [inside(to).scrollingElement, ...inside(to).querySelectorAll(".scroll")];
  [inside(from).scrollingElement, ...inside(from).querySelectorAll(".scroll")].forEach((box, i) => boxes[i]?.scrollTo(box.scrollLeft, box.scrollTop));
}

function show(lab, wanted) {
  const next = make("iframe", { class: "next", src: `report?number=${wanted}`, title: "The lab's report" });
  next.addEventListener("load", () => {
    if (wanted !== number) return next.remove(); // there is a newer one
    const focused = shown && document.activeElement === shown;
    if (shown) likewise(shown, next);
    shown?.remove();
    next.classList.remove("next");
    shown = next;
    if (focused) next.focus();
    document.title = inside(next).title;
    say(`Lab ${lab}, as of ${new Date().toLocaleTimeString()}; this page follows the gradebook.`);
  });
  at("reports").append(next);
}

listen((kind, data) => {
  if (kind !== "hello" && kind !== "report") return;
  if (data.problem) say(`The report could not be written: ${data.problem}`, true);
  else if (data.number === number && shown) say(`Lab ${data.lab}; this page follows the gradebook.`);
  if (data.number === number || data.number === 0) return;
  number = data.number;
  show(data.lab, number);
}, reason => say(reason, true));
