// The student's files of the lab that is open, and what the page says of their saves.
import { ask } from "./api.js";
import { SavedFile } from "./saving.js";

const SAID = { saved: "saved", dirty: "", saving: "saving", conflict: "not saved", failed: "not saved" };
const at = id => document.getElementById(`r-${id}`);

export function tellFailure(text) {
  if (at("failed").textContent !== text) at("failed").textContent = text;
  at("failed").hidden = text === "";
}

export class OpenFiles {
  constructor(lab) {
    this.lab = lab;
    this.all = new Map();
    this.open = null;
    this.problem = "";
    this.ended = false;
  }

  async load(names) {
    for (const name of names) {
      try {
        const file = new SavedFile(this.lab, name, await ask("GET", `api/lab/${this.lab}/file/${name}`), () => this.showSaved());
        this.all.set(name, file);
        if (this.ended) file.end();
      } catch (e) {
        this.problem = e.message;
      }
    }
    return this;
  }

  get(name) { return this.all.get(name); }
  names() { return [...this.all.keys()]; }
  list() { return [...this.all.values()]; }

  // Resolves to the first file whose text is not on disk, or to undefined.
  async save() {
    await Promise.all(this.list().map(f => f.save()));
    return this.unsaved();
  }

  unsaved() { return this.list().find(f => f.state !== "saved"); }
  // A text would be lost, or would stay in this browser alone.
  inTrouble() { return this.list().some(f => f.state === "failed" || f.state === "conflict" || (f.state !== "saved" && !f.kept)); }
  // Saves what is due at once.
  leave() { for (const f of this.list()) if (f.state === "dirty") f.save(true); }

  // No timer goes on, and nothing is shown any more.
  end() {
    this.ended = true;
    for (const file of this.all.values()) file.end();
  }

  showSaved() {
    if (this.ended || !this.open) return;
    const files = this.list();
    const worst = files.find(f => f.state === "failed" || f.state === "conflict") ?? this.open;
    if (at("saved").textContent !== SAID[worst.state]) at("saved").textContent = SAID[worst.state];
    at("saved").className = worst.state === "failed" || worst.state === "conflict" ? "bad" : "soft";
    const failed = files.find(f => f.state === "failed");
    tellFailure(failed ? `${failed.name} is not saved: ${failed.why}. ${failed.kept ? "Its text is kept in this browser" : "This browser cannot keep its text: copy it before you close the page"}. The page tries again.` : "");
    const conflict = this.open.state === "conflict";
    if (at("conflict").hidden === conflict) at("conflict").hidden = !conflict;
    if (conflict) at("conflict-text").textContent = `${this.open.why}. Which text shall stay?`;
  }
}
