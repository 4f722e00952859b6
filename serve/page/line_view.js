// Below the editor: what the line under the cursor asked of memory in the last check, with its dearest request, lane by
// lane; and, once unfolded, the instructions that the line becomes on a GPU.
import { ask, make } from "./api.js";

const PAUSE = 250, AGAIN = 500; // ms after the cursor moved; while another file is compiled
const WORDS = { ld: "loads", st: "stores", atom: "atomics", red: "reductions" };

function sentence(access, i, all) {
  const [space, kind] = access.op.split("_"), global = space === "global";
  const each = access.requests ? access.took / access.requests : 0, ideal = access.requests ? access.ideal / access.requests : 0;
  const number = value => (Number.isInteger(value) ? value : value.toFixed(1));
  const unit = `${global ? "sector" : "wavefront"}${each === 1 ? "" : "s"}`;
  const kernel = i > 0 && all[i - 1].kernel === access.kernel ? "" : `${access.kernel}: `;
  return `${kernel}${access.requests} request${access.requests === 1 ? "" : "s"} (${WORDS[kind] ?? access.op}, ${space} memory), ${number(each)} ${unit} each${each > ideal ? `, where ${number(ideal)} would do` : ", as few as can be"}.`;
}

// An SVG of the server's own, as elements: nothing in it is a script, since the page's policy runs none.
const drawing = svg => document.importNode(new DOMParser().parseFromString(svg, "text/html").querySelector("figure"), true);

// The instructions by kernel, in the listing's order.
function listing(instructions) {
  const lines = [];
  let kernel = "";
  for (const i of instructions) {
    if (i.kernel !== kernel) lines.push(`// ${kernel = i.kernel}`);
    lines.push(i.text.endsWith(":") ? i.text : `  ${i.text}`);
  }
  return lines.join("\n");
}

// `page`: { lab, task, file }, where file has name, base (the hash of what is saved) and state.
export function startLineView(editor, page) {
  const summary = make("summary", {}), place = make("div", {});
  const view = make("details", { id: "r-line", class: "below", hidden: true }, summary, place);
  const title = make("summary", {}, "Instructions of this line"), says = make("p", { class: "soft", role: "status" }), text = make("pre", { tabindex: 0, "aria-label": "Instructions" });
  const code = make("details", { id: "r-code", class: "below" }, title, says, text);
  document.getElementById("r-editor").after(view, code);
  for (const box of [view, code]) box.addEventListener("toggle", () => editor.refresh()); // it takes or gives room
  let timer = 0, number = 0;

  async function showAccesses(mine, lab, task, file, line) {
    const found = await ask("GET", `api/lab/${lab}/line?task=${encodeURIComponent(task)}&file=${encodeURIComponent(file.name)}&line=${line}`).catch(() => null);
    if (mine !== number) return;
    // Counts belong to the lines of the text that was judged.
    const accesses = found && found.judged === file.base && file.state === "saved" ? found.accesses : [];
    view.hidden = accesses.length === 0;
    summary.textContent = `Line ${line}: ${accesses.map(sentence).join(" ")}`;
    place.replaceChildren(...accesses.filter(a => a.svg).map(a => drawing(a.svg)));
  }

  async function showCode(mine, lab, file, line) {
    if (!code.open) return;
    const tell = (head, more, list = "") => {
      title.textContent = head;
      says.textContent = more;
      says.hidden = more === "";
      text.textContent = list;
      text.hidden = list === "";
    };
    if (text.hidden) tell(`Instructions of line ${line}`, "The file is being compiled for a GPU.");
    for (;;) {
      let problem = "";
      const found = await ask("GET", `api/lab/${lab}/code?file=${encodeURIComponent(file.name)}&line=${line}`).catch(e => { problem = e.status === 503 ? "" : e.message; return null; });
      if (mine !== number || !code.open) return;
      if (!found && !problem) {
        await new Promise(done => setTimeout(done, AGAIN));
        if (mine !== number) return;
        continue;
      }
      if (!found || found.problem) return tell(`Instructions of line ${line}`, problem || found.problem);
      if (found.version !== file.base || file.state !== "saved") return tell(`Instructions of line ${line}`, "They are shown once the file is saved.");
      const count = found.instructions.filter(i => !i.text.endsWith(":")).length;
      return tell(`${found.form} of line ${line}: ${count} instruction${count === 1 ? "" : "s"} (${found.compiler}, ${found.target})`,
        count === 0 ? "The compiler has made no instruction of this line alone." : "", listing(found.instructions));
    }
  }

  function show() {
    const mine = ++number, line = editor.line, { lab, task, file } = page;
    if (!lab || !task || !file) return;
    showAccesses(mine, lab, task, file, line);
    showCode(mine, lab, file, line);
  }
  const soon = () => { clearTimeout(timer); timer = setTimeout(show, PAUSE); };
  code.addEventListener("toggle", soon);
  editor.onLine(soon);
  return { refresh: soon };
}
