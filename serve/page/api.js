// The server, by addresses relative to the page, so that the page works below any path.
export class Refused extends Error {
  constructor(status, body) {
    super(body.problem ?? `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

// A server that was started anew has another token.
export const MOVED = "ridge serve was started anew, at another address: open the one that it has printed. Copy what was not saved first: that page takes it over only where its address begins with the same host and port";

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
  const answer = await fetch(path, options);
  const data = await answer.json().catch(() => ({}));
  if (answer.status === 403) throw new Refused(403, { problem: MOVED });
  if (!answer.ok) throw new Refused(answer.status, data);
  return data;
}

export const fetchText = async path => {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Refused(answer.status, {});
  return answer.text();
};

// Listens while the tab is visible: a browser opens six connections to a server, and hidden tabs would take them all.
// `heard` is called with kind and data; `lost`, with the reason, when the server does not answer.
export function listen(heard, lost) {
  let source = null;
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource("api/events");
    for (const kind of ["hello", "step", "ended", "lab", "file"]) source.addEventListener(kind, e => heard(kind, JSON.parse(e.data)));
    source.onerror = async () => {
      lost(GONE);
      // A stream that broke off is opened anew by the browser; one that was refused is not.
      if (source.readyState !== EventSource.CLOSED) return;
      if ((await fetch("api/labs").catch(() => null))?.status === 403) lost(`${MOVED}.`);
      close();
      setTimeout(open, 2000);
    };
  };
  const close = () => {
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
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
