// Below the editor: what the line under the cursor asked of memory in the last check, and its dearest request, lane by lane.
import { ask, make } from "./api.js";

const PAUSE = 250; // ms after the cursor moved
const WORDS = { ld: "loads", st: "stores", atom: "atomics", red: "reductions" };

function sentence(access) {
  const [space, kind] = access.op.split("_"), global = space === "global";
  const each = access.requests ? access.took / access.requests : 0, ideal = access.requests ? access.ideal / access.requests : 0;
  const number = value => (Number.isInteger(value) ? value : value.toFixed(1));
  return `${access.kernel}: ${access.requests} requests (${WORDS[kind] ?? access.op}, ${space} memory), ${number(each)} ${global ? "sectors" : "wavefronts"} each${each > ideal ? `, where ${number(ideal)} would do` : ", as few as can be"}.`;
}

// An SVG of the server's own, as elements: nothing in it is a script, since the page's policy runs none.
const drawing = svg => document.importNode(new DOMParser().parseFromString(svg, "text/html").querySelector("figure"), true);

// `page`: { lab, task, file }, where file has name, base (the hash of what is saved) and state.
export function startLineView(editor, page) {
  const summary = make("summary", {}), place = make("div", {});
  const view = make("details", { id: "r-line", hidden: true }, summary, place);
  document.getElementById("r-editor").after(view);
  view.addEventListener("toggle", () => editor.refresh()); // it takes or gives room
  let timer = 0, number = 0;
  async function show() {
    const mine = ++number, line = editor.line, { lab, task, file } = page;
    if (!lab || !task || !file) return;
    const found = await ask("GET", `api/lab/${lab}/line?task=${encodeURIComponent(task)}&file=${encodeURIComponent(file.name)}&line=${line}`).catch(() => null);
    if (mine !== number) return;
    // Counts belong to the lines of the text that was judged.
    const accesses = found && found.judged === file.base && file.state === "saved" ? found.accesses : [];
    view.hidden = accesses.length === 0;
    summary.textContent = `Line ${line}: ${accesses.map(sentence).join(" ")}`;
    place.replaceChildren(...accesses.filter(a => a.svg).map(a => drawing(a.svg)));
  }
  const soon = () => { clearTimeout(timer); timer = setTimeout(show, PAUSE); };
  editor.onLine(soon);
  return { refresh: soon };
}
