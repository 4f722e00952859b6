// One file of the student: it is saved half a second after the last key. Until the server has confirmed a save, the text
// is also kept as a draft in the browser, so that neither a full disk nor a server that ended loses it.
import { ask, Refused } from "./api.js";
import { openTabs, tabName } from "./tabs.js";

const WAIT = 500, RETRY = 3000, ORPHANED = 10000; // ms
const PREFIX = "ridge-draft:";

let owner = "";
// Drafts are those of one work folder, which the server names.
export function setOwner(name) { owner = name; }

export class SavedFile {
  // `changed` is called whenever `state` is another: "saved", "dirty", "saving", "conflict" or "failed".
  constructor(lab, name, answer, changed) {
    this.path = `api/lab/${lab}/file/${name}`;
    this.key = `${PREFIX}${owner}:${lab}/${name}:`;
    this.name = name;
    this.changed = changed;
    this.base = answer.version;
    this.separator = answer.text.includes("\r\n") ? "\r\n" : "\n";
    this.doc = CodeMirror.Doc(answer.text, "text/x-cuda", 0, this.separator);
    this.state = "saved";
    this.why = "";
    this.busy = null;
    this.timer = 0;
    this.again = 0;
    this.kept = false; // the text that is not saved, as a draft in the browser
    this.recover();
    this.doc.on("change", () => this.edited());
  }

  get text() { return this.doc.getValue(this.separator); }

  // Nothing is saved or told any more. What was not saved stays a draft.
  end() {
    clearTimeout(this.timer);
    clearTimeout(this.again);
    this.changed = () => {};
    this.ended = true;
  }

  set(state, why = "") {
    this.state = state;
    this.why = why;
    this.changed(this);
  }

  // Replaces what differs, as one step that undo takes back; the cursor stays where it is.
  replace(text) {
    const old = this.text;
    let from = 0, end = 0;
    const most = Math.min(old.length, text.length);
    while (from < most && old[from] === text[from]) ++from;
    while (end < most - from && old[old.length - 1 - end] === text[text.length - 1 - end]) ++end;
    const at = index => this.place(old, index);
    this.doc.replaceRange(text.slice(from, text.length - end), at(from), at(old.length - end), "elsewhere");
  }

  place(text, index) {
    const lines = text.slice(0, index).split(this.separator);
    return { line: lines.length - 1, ch: lines[lines.length - 1].length };
  }

  edited() {
    this.keepDraft();
    if (this.state === "conflict") return;
    if (this.state !== "failed") this.set("dirty");
    clearTimeout(this.timer);
    if (!this.ended) this.timer = setTimeout(() => this.save(), WAIT);
  }

  // Resolves to true once the text that is there now is saved.
  // `last`: the page is being left.
  async save(last = false) {
    clearTimeout(this.timer);
    while (this.busy) await this.busy; // several may have waited
    if (this.state === "saved") return true;
    if (this.state === "conflict") return false;
    this.busy = this.send(last).finally(() => { this.busy = null; });
    await this.busy;
    return this.state === "saved";
  }

  async send(last) {
    const text = this.text;
    this.set("saving");
    try {
      const answer = await ask("PUT", this.path, { text, base: this.base }, last);
      this.base = answer.version;
      if (this.text === text) {
        this.dropDraft();
        this.set("saved");
      } else {
        this.set("dirty");
        this.timer = setTimeout(() => this.save(), WAIT);
      }
    } catch (e) {
      if (e instanceof Refused && e.status === 409) {
        this.theirs = { text: e.body.text, version: e.body.version };
        this.set("conflict", e.message);
        return;
      }
      this.set("failed", e instanceof Refused ? e.message : "the server does not answer");
      this.timer = setTimeout(() => this.save(), RETRY);
    }
  }

  // Another program or tab has saved the file.
  async savedElsewhere(version) {
    while (this.busy) await this.busy;
    if (version === this.base || this.state !== "saved") return; // a save that is due will find the conflict
    const base = this.base;
    const answer = await ask("GET", this.path).catch(() => null);
    if (!answer || this.state !== "saved" || this.base !== base) return; // saved meanwhile: the answer is old
    this.base = answer.version;
    this.replace(answer.text);
    clearTimeout(this.timer);
    this.dropDraft();
    this.set("saved");
  }

  // Both texts end up in the history, so that undo brings the other one back.
  resolve(mine) {
    const text = this.text;
    this.base = this.theirs.version;
    this.state = "dirty";
    this.replace(this.theirs.text);
    if (mine) this.replace(text);
    this.save();
  }

  // `kept` says whether the browser took it.
  keepDraft() {
    this.kept = false;
    try {
      localStorage.setItem(this.key + tabName(), JSON.stringify({ base: this.base, text: this.text, time: Date.now() }));
      this.kept = true;
    } catch { /* no storage: the tab itself still has the text */ }
  }

  dropDraft() {
    try { localStorage.removeItem(this.key + tabName()); } catch { /* as above */ }
  }

  // A draft of this tab, or of one that is gone, whose text was never saved. Where the browser does not tell which tabs are
  // open, a young draft may be that of a tab at work: it is looked at again later.
  recover() {
    const own = this.draft(this.key + tabName());
    if (own && this.state === "saved") this.take(this.key + tabName(), own);
    this.recoverOthers();
  }

  draft(key) {
    try {
      const draft = JSON.parse(localStorage.getItem(key));
      return draft && typeof draft.text === "string" ? draft : null;
    } catch {
      return null;
    }
  }

  async recoverOthers() {
    const others = () => {
      try { return Object.keys(localStorage).filter(key => key.startsWith(this.key) && key !== this.key + tabName()); } catch { return []; }
    };
    if (this.ended || others().length === 0) return;
    const open = await openTabs().catch(() => null);
    if (this.ended) return;
    let later = 0; // ms until another look
    for (const key of others()) {
      const draft = this.draft(key);
      if (!draft || open?.has(key.slice(this.key.length))) continue;
      const age = Date.now() - draft.time;
      if (this.state === "saved" && (open || age >= ORPHANED)) this.take(key, draft);
      else later = Math.max(later, open ? RETRY : ORPHANED - age, RETRY);
    }
    clearTimeout(this.again);
    if (later) this.again = setTimeout(() => this.recoverOthers(), later);
  }

  take(key, draft) {
    try { localStorage.removeItem(key); } catch { return; }
    if (draft.text === this.text) return;
    const theirs = { text: this.text, version: this.base };
    this.replace(draft.text);
    this.keepDraft();
    clearTimeout(this.timer);
    if (draft.base === this.base) {
      this.state = "dirty";
      this.timer = setTimeout(() => this.save(), 0);
    } else {
      this.theirs = theirs;
      this.set("conflict", `${this.name} was changed elsewhere, and this browser holds a text of it that was never saved`);
    }
  }
}
