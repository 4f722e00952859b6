// Whether the program that listens at the page's port is still its server. The page's address holds the token, so that no
// request may go to another program, which might wait there for the texts of a server or a tunnel that has ended. While the
// event stream is open, nobody else can answer. After that, the page asks a question that the server has given it over the
// stream, at an address without the token, and only a server with the token knows the answer (serve/proof.hpp).
import { MOVED, Refused } from "./refused.js";

const LOADING = 15000; // ms after the page has come from the server
const AFTER_PROOF = 5000; // until the stream is open
const AFTER_STREAM = 1000; // in which a page that is left saves

let known = performance.now() + LOADING; // until when the server is known
let pair = null;
let asking = null;

// The server's greeting over the stream, which vouches for it as long as it is open.
export function streamOpened(proof) {
  pair = proof ?? pair;
  known = Infinity;
}

// `byPage`: the page has closed the stream itself.
export function streamEnded(byPage) { known = byPage ? performance.now() + AFTER_STREAM : 0; }

// A question that came with an answer before the stream.
export function remember(proof) { pair ??= proof ?? null; }

// Resolves once the server is known. Throws Refused where another program answers, a TypeError where none does.
export async function proved() {
  if (performance.now() < known) return;
  asking ??= askServer().finally(() => { asking = null; });
  await asking;
}

async function askServer() {
  if (!pair) throw new Refused(403, { problem: MOVED });
  const answer = await fetch(`../prove?question=${pair.question}`, { cache: "no-store", redirect: "error" });
  if (answer.status >= 500) throw new TypeError("the server does not answer"); // a portal says so
  const said = await answer.json().catch(() => ({}));
  if (said.answer !== pair.answer) throw new Refused(403, { problem: MOVED });
  known = Math.max(known, performance.now() + AFTER_PROOF);
}
