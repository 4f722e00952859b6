// The editor: the lab's files as documents of one CodeMirror, with findings on their lines.
import { make } from "./api.js";

// A set of words as CodeMirror's C mode takes it: an object or a function.
const words = (text, more) => {
  const own = new Set(text.split(" "));
  return word => own.has(word) || (typeof more === "function" ? more(word) : Boolean(more?.[word]));
};

// C++ as CodeMirror knows it, with CUDA's words.
export function defineCuda() {
  const cpp = CodeMirror.resolveMode("text/x-c++src");
  CodeMirror.defineMIME("text/x-cuda", {
    ...cpp,
    keywords: words("__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__ __forceinline__ __noinline__ __align__", cpp.keywords),
    types: words("size_t uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t float2 float4 int2 int4 uint2 uint4 double2 half half2 __half __half2 __nv_bfloat16 dim3 cudaStream_t cudaEvent_t cudaGraph_t cudaError_t", cpp.types),
    builtin: words("threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync __all_sync __popc __ffs __clz atomicAdd atomicMax atomicMin atomicCAS atomicExch"),
  });
}

// After Esc, until the next change: Tab is the browser's, and leaves the editor.
const LEAVE = { name: "leave", Tab: false, "Shift-Tab": false };

function indent(cm) {
  if (cm.somethingSelected()) cm.execCommand("indentMore");
  else cm.replaceSelection(" ".repeat(2 - (cm.getCursor().ch % 2)), "end");
}

export class Editor {
  constructor(place) {
    this.marks = [];
    this.cm = CodeMirror(place, {
      mode: "text/x-cuda", readOnly: true, lineNumbers: true, indentUnit: 2, tabSize: 2, matchBrackets: true, autoCloseBrackets: true,
      styleActiveLine: true, lineWrapping: true, inputStyle: "contenteditable", gutters: ["CodeMirror-linenumbers", "ridge-marks"], screenReaderLabel: "Your code",
      extraKeys: {
        Esc: cm => { cm.addKeyMap(LEAVE); return CodeMirror.Pass; }, Tab: indent, "Shift-Tab": "indentLess",
        "Ctrl-/": "toggleComment", "Ctrl-F": "findPersistent",
      },
    });
    const input = this.cm.getInputField(); // a screen reader takes it for what it is
    input.setAttribute("role", "textbox");
    input.setAttribute("aria-multiline", "true");
    for (const event of ["beforeChange", "blur"]) this.cm.on(event, cm => cm.removeKeyMap(LEAVE));
  }

  // The cursor's line, counted from 1; and what to do when it changes.
  get line() { return this.cm.getCursor().line + 1; }
  onLine(changed) { this.cm.on("cursorActivity", changed); }

  set keymap(name) { this.cm.setOption("keyMap", name); }

  show(file) {
    if (this.cm.getDoc() !== file.doc) this.cm.swapDoc(file.doc);
    this.cm.setOption("readOnly", false);
  }

  focus() { this.cm.focus(); }

  // It was hidden.
  refresh() { this.cm.refresh(); }

  go(line) {
    this.cm.setCursor({ line: line - 1, ch: 0 });
    this.cm.scrollIntoView({ line: line - 1, ch: 0 }, 120);
    this.cm.focus();
  }

  // notes: [{ doc, line, label, text }]
  note(notes) {
    for (const clear of this.marks) clear();
    this.marks = notes.filter(n => n.line >= 1 && n.line <= n.doc.lineCount()).map(n => {
      const handle = n.doc.getLineHandle(n.line - 1);
      const widget = n.doc.addLineWidget(handle, make("div", { class: "ridge-note" }, make("strong", {}, n.label), " " + n.text), { coverGutter: false, noHScroll: true });
      n.doc.setGutterMarker(handle, "ridge-marks", make("div", { class: "ridge-mark", title: n.text }, "●"));
      n.doc.addLineClass(handle, "background", "ridge-hit");
      return () => {
        widget.clear();
        n.doc.setGutterMarker(handle, "ridge-marks", null);
        n.doc.removeLineClass(handle, "background", "ridge-hit");
      };
    });
  }
}
