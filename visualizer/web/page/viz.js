// The visualizer in a canvas: openVisualizer(canvas, url) speaks with `ridge-viz --web` through a WebSocket.
import { Inflater, VERSION, readDownload, readFrame, readText, readTexture } from './viz_stream.js';
import { Drawing } from './viz_draw.js';
import { Input, acknowledge, askLayout } from './viz_input.js';

const CURSORS = ['none', 'default', 'text', 'move', 'ns-resize', 'ew-resize', 'nesw-resize', 'nwse-resize', 'pointer', 'not-allowed'];
const PAUSES = [500, 1000, 2000, 4000, 8000];   // ms before each new try
const MOST_TIMES = 4096;
const systemDark = () => matchMedia('(prefers-color-scheme: dark)').matches;

function socketUrl(url) {
  const whole = new URL(url, document.baseURI);
  whole.protocol = whole.protocol === 'https:' ? 'wss:' : 'ws:';
  return whole.href;
}

// `name`: what the canvas is called; `dark()`: the page's theme; `say(sentence, more)`: what is drawn, or why nothing is, where
// `more` is 'shown', 'waiting' or 'ended'; `known()`: resolves once it is certain that the page's own server listens;
// `socket`: stands in for WebSocket in tests.
export function openVisualizer(canvas, url, { name = 'Visualizer', dark = systemDark, say = () => {}, known = async () => {}, socket = WebSocket } = {}) {
  return new Visualizer(canvas, url, { name, dark, say, known, socket });
}

class Visualizer {
  constructor(canvas, url, options) {
    Object.assign(this, options, { canvas, url, tries: 0, closed: false, wanted: [] });
    // For measurements: frames drawn, bytes taken, milliseconds of this script, milliseconds from an input to its frame.
    this.counts = { frames: 0, bytes: 0, messages: 0, busy: 0, latencies: [] };
    canvas.visualizer = this;   // for tests and measurements
    canvas.tabIndex = 0;
    canvas.style.touchAction = 'none';
    canvas.setAttribute('role', 'application');
    canvas.setAttribute('aria-label', name);
    this.tell('The visualizer is being opened.', 'waiting');
    try {
      this.drawing = new Drawing(canvas);
    } catch (error) {
      this.tell(`The visualizer cannot draw here: ${error.message}. Try another browser, or ridge viz --export picture.svg in a terminal.`, 'ended');
      return;
    }
    this.input = new Input(canvas, (bytes, number) => this.post(bytes, number), this.dark);
    this.media = matchMedia('(prefers-color-scheme: dark)');
    this.media.addEventListener('change', this.themed = () => this.theme());
    this.connect();
  }

  // The page's theme changed.
  theme() { if (this.input && this.live) this.input.theme(); }

  // Where things are drawn, by name: a promise.
  layout() { return new Promise(done => { this.wanted.push(done); this.socketNow?.send(askLayout()); }); }

  close() {
    this.closed = true;
    this.live = false;
    clearTimeout(this.timer);
    cancelAnimationFrame(this.asked);
    this.media?.removeEventListener('change', this.themed);
    this.input?.end();
    this.drawing?.end();
    this.inflater?.end();
    this.socketNow?.close();
  }

  tell(sentence, state) {
    this.sentence = sentence;
    this.state = state;
    this.canvas.textContent = sentence;   // what a screen reader finds inside
    this.canvas.setAttribute('aria-label', `${this.name}. ${sentence}`);
    this.say(sentence, state);
  }

  async connect() {
    this.live = this.greeted = false;
    try {
      await this.known();
    } catch (error) {
      if (!this.closed) this.lost(error.message);
      return;
    }
    if (this.closed) return;
    const socket = this.socketNow = new this.socket(socketUrl(this.url));
    socket.binaryType = 'arraybuffer';
    this.lists = [];
    this.next = null;
    this.reason = '';
    this.times = new Map();
    socket.onmessage = message => { if (socket === this.socketNow) this.take(new Uint8Array(message.data)); };
    socket.onclose = event => { if (socket === this.socketNow && !this.closed) this.lost(event.reason); };
  }

  lost(why) {
    this.live = false;
    this.inflater?.end();
    for (const done of this.wanted.splice(0)) done([]);
    const reason = this.reason || why || 'the connection ended';
    if (this.reason || this.tries >= PAUSES.length) {
      this.tell(`The visualizer ended: ${reason}. Press Enter or click here to open it again.`, 'ended');
      const again = event => {
        if (event.type === 'keydown' && event.key !== 'Enter') return;
        this.canvas.removeEventListener('keydown', again);
        this.canvas.removeEventListener('pointerdown', again);
        this.tries = 0;
        if (!this.closed) this.connect();
      };
      this.canvas.addEventListener('keydown', again);
      this.canvas.addEventListener('pointerdown', again);
      return;
    }
    const pause = PAUSES[this.tries++];
    this.tell(`Connecting to the visualizer again: ${reason}.`, 'waiting');
    this.timer = setTimeout(() => { if (!this.closed) this.connect(); }, pause);
  }

  end(reason) {
    this.reason = reason;
    this.socketNow.close();
  }

  post(bytes, number) {
    if (!this.live || this.socketNow.readyState !== 1) return;
    this.times.set(number, performance.now());
    this.socketNow.send(bytes);
  }

  // The first message says who speaks; all others are pieces of one compressed stream.
  take(bytes) {
    this.counts.bytes += bytes.length;
    this.counts.messages += 1;
    if (this.greeted) return this.inflater.add(bytes);
    this.greeted = true;
    let hello = {};
    try { hello = JSON.parse(readText(bytes)); } catch { /* is no hello */ }
    if (hello.error) return this.end(hello.error);
    if (hello.protocol !== 'ridge.viz' || hello.version !== VERSION) return this.end(`the program speaks version ${hello.version}, the page version ${VERSION}; reload the page`);
    this.inflater = new Inflater((kind, body) => this.message(kind, body));
    const socket = this.socketNow;
    this.inflater.failed.catch(error => { if (socket === this.socketNow && this.live) this.end(`the page could not read what came (${error.message})`); });
    this.live = true;
    socket.send(this.input.hello());
  }

  message(kind, body) {
    if (kind === 'F') {
      const began = performance.now();
      this.next = readFrame(body, this.lists);
      this.counts.busy += performance.now() - began;
      this.lists = this.next.lists;
      if (!this.asked) this.asked = requestAnimationFrame(() => this.draw());
    } else if (kind === 'T') {
      this.drawing.texture(readTexture(body));
    } else if (kind === 'S') {
      this.tell(readText(body), 'shown');
    } else if (kind === 'C') {
      this.copy(readText(body));
    } else if (kind === 'D') {
      this.download(readDownload(body));
    } else if (kind === 'L') {
      const { items } = JSON.parse(readText(body));
      this.wanted.shift()?.(items);
    } else if (kind === 'E') {
      this.end(readText(body));
    }
  }

  draw() {
    this.asked = 0;
    const frame = this.next;
    if (!frame) return;
    this.next = null;
    this.tries = 0;
    const began = performance.now();
    this.drawing.draw(frame);
    this.counts.busy += performance.now() - began;
    this.canvas.style.cursor = CURSORS[frame.cursor] ?? 'default';
    this.counts.frames += 1;
    for (const [number, then] of this.times) {
      if (number > frame.input) break;
      if (number === frame.input && this.counts.latencies.length < MOST_TIMES) this.counts.latencies.push(performance.now() - then);
      this.times.delete(number);
    }
    if (this.socketNow.readyState === 1) this.socketNow.send(acknowledge(frame.number));
  }

  copy(text) {
    const failed = () => this.say('The browser did not allow the page to copy. Click the canvas and copy again.', this.state);
    (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error())).catch(failed);
  }

  download({ name, content }) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([content], { type: 'image/svg+xml' }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}
