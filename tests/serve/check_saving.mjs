// The saves of one file, by serve/page/saving.js without a browser: check_saving.mjs SOURCE. The server's answers come when
// the test lets them.
import assert from "node:assert";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ridge-saving-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true }));
fs.writeFileSync(path.join(folder, "package.json"), '{"type": "module"}');
for (const name of ["api.js", "attempts.js", "open_files.js", "proof.js", "refused.js", "saving.js", "tabs.js"])
  fs.copyFileSync(path.join(process.argv[2], "serve/page", name), path.join(folder, name));

const stored = new Map();
let full = false;
const storage = {
  getItem: key => stored.get(key) ?? null,
  setItem: (key, value) => { if (full) throw new Error("full"); stored.set(key, value); },
  removeItem: key => stored.delete(key),
};
globalThis.localStorage = globalThis.sessionStorage = storage;
globalThis.CodeMirror = {
  Doc: (text, mode, first, separator) => {
    let changed = () => {};
    const index = (p) => text.split(separator).slice(0, p.line).reduce((sum, line) => sum + line.length + separator.length, p.ch);
    return {
      getValue: () => text,
      on: (_, call) => { changed = call; },
      replaceRange: (by, from, to) => { text = text.slice(0, index(from)) + by + text.slice(index(to)); changed(); },
    };
  },
};

let waiting = []; // requests that have no answer yet
globalThis.fetch = (address, options) => new Promise(resolve => waiting.push({
  address, options, body: options.body && JSON.parse(options.body),
  answer: (data, status = 200) => resolve({ ok: status < 400, status, json: async () => data }),
}));
const settle = () => new Promise(resolve => setTimeout(resolve, 10));
const { SavedFile } = await import(pathToFileURL(path.join(folder, "saving.js")));
const { OpenFiles } = await import(pathToFileURL(path.join(folder, "open_files.js")));
const { showAttempts } = await import(pathToFileURL(path.join(folder, "attempts.js")));
let failures = 0;

async function test(what, run) {
  stored.clear(), waiting = [], full = false;
  const file = new SavedFile("01_lab", "a.cu", { text: "one", version: "v1" }, () => {});
  try {
    await run(file);
    console.log(`ok: ${what}`);
  } catch (e) {
    ++failures;
    console.log(`FAILED: ${what}: ${e.message}`);
  }
  file.end();
}

await test("an answer that was asked for before a save does not replace what was saved", async file => {
  file.savedElsewhere("");
  await settle();
  const [old] = waiting.splice(0);
  file.replace("one, two");
  file.save();
  await settle();
  waiting.splice(0)[0].answer({ version: "v2" });
  await settle();
  old.answer({ text: "one", version: "v1" });
  await settle();
  assert.deepEqual([file.text, file.base, file.state], ["one, two", "v2", "saved"]);
});

await test("of several that wait for a save, one sends at a time", async file => {
  file.replace("one, two");
  file.save();
  await settle();
  file.replace("one, two, three");
  file.save(), file.save(), file.save();
  await settle();
  waiting.splice(0)[0].answer({ version: "v2" });
  await settle();
  assert.equal(waiting.length, 1);
  assert.deepEqual(waiting[0].body, { text: "one, two, three", base: "v2" });
  waiting.splice(0)[0].answer({ version: "v3" });
  await settle();
  assert.deepEqual([waiting.length, file.base, file.state], [0, "v3", "saved"]);
});

await test("a page that is left saves at once, in a request that outlives it", async file => {
  const files = new OpenFiles("01_lab");
  files.all.set(file.name, file);
  file.replace("one, two");
  files.leave();
  await settle();
  assert.equal(waiting.length, 1);
  assert.equal(waiting[0].options.keepalive, true);
  waiting.splice(0)[0].answer({ version: "v2" });
  await settle();
  file.replace("x".repeat(70000));
  files.leave();
  await settle();
  assert.equal(waiting[0].options.keepalive, false); // more than a browser allows
});

await test("a text that neither disk nor browser has is asked for", async file => {
  const files = new OpenFiles("01_lab");
  files.all.set(file.name, file);
  file.replace("one, two");
  assert.equal(files.inTrouble(), false); // a draft is kept
  full = true;
  file.replace("one, two, three");
  assert.equal(files.inTrouble(), true);
});

// The button of showAttempts, found by its label.
function makeElement() {
  return { attributes: {}, children: [], listeners: {}, dataset: {},
    setAttribute(k, v) { this.attributes[k] = v; }, addEventListener(k, call) { this.listeners[k] = call; },
    append(...c) { this.children.push(...c); }, replaceChildren(...c) { this.children = c; } };
}
globalThis.document = { createElement: makeElement };

await test("the text of the last check goes into the file that it was asked for", async file => {
  const other = new SavedFile("01_lab", "b.cu", { text: "other", version: "w1" }, () => {});
  const place = makeElement();
  const page = { lab: "01_lab", task: "t", file, replace(text) { this.file.replace(text); return true; } };
  const shown = showAttempts(place, page);
  await settle();
  waiting.splice(0)[0].answer({ attempts: [{ id: "1", title: "first" }] });
  await settle();
  waiting.splice(0)[0].answer({}, 404); // no path
  await shown;
  place.children[0].listeners.click();
  await settle();
  const judged = waiting.splice(0).find(w => w.address.includes("judged"));
  page.file = other; // Alt-2
  judged.answer({ text: "judged" });
  await settle();
  assert.deepEqual([file.text, other.text], ["one", "other"]);
  page.file = file;
  place.children[0].listeners.click();
  await settle();
  waiting.splice(0)[0].answer({ text: "judged" });
  await settle();
  assert.equal(file.text, "judged");
  other.end();
});

process.exit(failures ? 1 : 0);
