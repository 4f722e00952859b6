// The server, by addresses relative to the page, so that the page works below any path.
import { proved, streamEnded, streamOpened } from "./proof.js";
import { MOVED, Refused } from "./refused.js";

export { MOVED, Refused };

const GONE = "The server does not answer. Where it has ended, copy what was not saved, close this page, start ./ridge serve again, and open the new address.";

// The answer as JSON. Throws Refused with the server's reason, or a TypeError where there is no answer.
// A request that is `last` outlives its page, where a browser allows it that many bytes.
const MOST_LAST = 60000;

export async function ask(method, path, body, last = false) {
  const options = { method, cache: "no-store" };
  if (method !== "GET") {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body ?? {});
    options.keepalive = last && new Blob([options.body]).size <= MOST_LAST;
  }
  await proved();
  const answer = await fetch(path, options);
  const data = await answer.json().catch(() => ({}));
  if (answer.status === 403) throw new Refused(403, { problem: MOVED });
  if (!answer.ok) throw new Refused(answer.status, data);
  return data;
}

export const fetchText = async path => {
  await proved();
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Refused(answer.status, {});
  return answer.text();
};

const REOPEN = 300, RETRY = 2000; // ms

// Listens while the tab is visible: a browser opens six connections to a server, and hidden tabs would take them all.
// `heard` is called with kind and data; `lost`, with the reason, when the server does not answer. The browser never opens a
// stream anew by itself, since the server has to be known first.
export function listen(heard, lost) {
  let source = null, opening = false, timer = 0;
  const open = async () => {
    if (source || opening || document.hidden) return;
    opening = true;
    try {
      await proved();
    } catch (e) {
      lost(e instanceof Refused ? `${e.message[0].toUpperCase()}${e.message.slice(1)}.` : GONE);
      return again(RETRY);
    } finally {
      opening = false;
    }
    if (document.hidden) return;
    source = new EventSource("api/events");
    for (const kind of ["hello", "step", "ended", "lab", "file", "report"]) source.addEventListener(kind, e => {
      const data = JSON.parse(e.data);
      if (kind === "hello") streamOpened(data.proof);
      heard(kind, data);
    });
    source.onerror = () => {
      close(false);
      lost(GONE);
      again(REOPEN);
    };
  };
  const again = pause => {
    clearTimeout(timer);
    timer = setTimeout(open, pause);
  };
  const close = byPage => {
    if (source) streamEnded(byPage);
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close(true) : open()));
  open();
}

// An element with attributes, text and children; text never becomes markup.
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "onclick") element.addEventListener("click", value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return element;
}
