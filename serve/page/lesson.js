// The left column: the lesson, with its code in colours.
import { fetchText } from "./api.js";

export const fetchLesson = lab => fetchText(`api/lab/${lab}/lesson`);

export function drawLesson(place, html) {
  place.innerHTML = html; // the course's own text; the page's policy runs no script in it
  for (const link of place.querySelectorAll("a[href^='http']")) {
    link.target = "_blank";
    link.rel = "noreferrer";
  }
  for (const code of place.querySelectorAll("pre code[class*='language-']"))
    if (/language-(cpp|cuda|c)\b/.test(code.className)) CodeMirror.runMode(code.textContent, "text/x-cuda", code);
  for (const block of place.querySelectorAll("pre")) {
    block.tabIndex = 0;
    block.setAttribute("role", "region");
    block.setAttribute("aria-label", "Code");
  }
  if (location.hash) goTo(place, location.hash.slice(1));
}

export function goTo(place, anchor) {
  const target = anchor && [...place.querySelectorAll("a[id]")].find(a => a.id === anchor);
  target?.parentElement.scrollIntoView({ block: "start" });
}
