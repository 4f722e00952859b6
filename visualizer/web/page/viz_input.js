// The page's mouse, keys, clipboard, size and theme, as messages for `ridge-viz --web`.
import { VERSION } from './viz_stream.js';

const MOST_TEXT = 48 << 10;   // bytes of a paste
const KEYS = { ArrowLeft: 263, ArrowRight: 262, ArrowUp: 265, ArrowDown: 264, Escape: 256, Enter: 257, Backspace: 259, Delete: 261,
  Tab: 258, ' ': 32, Home: 268, End: 269, PageUp: 266, PageDown: 267, Insert: 260, '+': 61, '=': 61, '-': 45, '/': 47 };   // GLFW's numbers
const WITH_CONTROL = '+=-0dpeacvxyz';   // other chords are the browser's
const mac = /Mac|iPhone|iPad/.test(navigator.platform);

class Bytes {
  constructor(kind) { this.view = new DataView(new ArrayBuffer(64)); this.size = 0; if (kind) this.u8(kind.charCodeAt(0)); }
  room(count) {
    if (this.size + count > this.view.byteLength) {
      const larger = new Uint8Array(2 * (this.size + count));
      larger.set(new Uint8Array(this.view.buffer, 0, this.size));
      this.view = new DataView(larger.buffer);
    }
    this.size += count;
    return this.size - count;
  }
  u8(v) { const at = this.room(1); this.view.setUint8(at, v); return this; }
  u16(v) { const at = this.room(2); this.view.setUint16(at, v, true); return this; }
  u32(v) { const at = this.room(4); this.view.setUint32(at, v, true); return this; }
  f32(v) { const at = this.room(4); this.view.setFloat32(at, v, true); return this; }
  text(v) {
    let bytes = new TextEncoder().encode(v.replaceAll('\0', '').toWellFormed?.() ?? v.replaceAll('\0', ''));
    if (bytes.length > MOST_TEXT) bytes = new TextEncoder().encode(v.slice(0, MOST_TEXT / 4));
    this.u32(bytes.length);
    const at = this.room(bytes.length);
    new Uint8Array(this.view.buffer).set(bytes, at);
    return this;
  }
  done() { return new Uint8Array(this.view.buffer, 0, this.size); }
}

export const acknowledge = number => new Bytes('a').u32(number).done();
export const askLayout = () => new Bytes('l').done();

export class Input {
  // `send(bytes, number)` takes messages of events; `dark()` says which theme the page has.
  constructor(canvas, send, dark) {
    this.canvas = canvas;
    this.send = send;
    this.dark = dark;
    this.number = 0;
    this.down = new Map();   // keys: the number that was sent
    this.buttons = 0;
    this.ending = new AbortController();
    const on = (target, name, handle, more = {}) => target.addEventListener(name, handle, { signal: this.ending.signal, ...more });
    on(canvas, 'pointermove', e => this.event(b => this.place(b, e)));
    on(canvas, 'pointerdown', e => this.press(e, true));
    on(canvas, 'pointerup', e => this.press(e, false));
    on(canvas, 'pointercancel', e => this.press(e, false));
    on(canvas, 'pointerleave', () => { if (!this.buttons) this.event(b => b.u8(10)); });
    on(canvas, 'wheel', e => this.wheel(e), { passive: false });
    on(canvas, 'contextmenu', e => e.preventDefault());
    on(canvas, 'keydown', e => this.key(e, true));
    on(canvas, 'keyup', e => this.key(e, false));
    on(canvas, 'focus', () => this.event(b => b.u8(6).u8(1)));
    on(canvas, 'blur', () => { this.down.clear(); this.buttons = 0; this.event(b => b.u8(6).u8(0)); });
    on(document, 'paste', e => this.paste(e));
    let timer = 0;
    const resized = () => { clearTimeout(timer); timer = setTimeout(() => this.resize(), 120); };   // each size is an atlas
    this.observer = new ResizeObserver(resized);
    this.observer.observe(canvas);
    on(window, 'resize', resized);   // zooming the page changes the ratio alone
  }

  end() { this.ending.abort(); this.observer.disconnect(); }

  event(put) {
    const bytes = new Bytes('e').u32(++this.number);
    put(bytes);
    this.send(bytes.done(), this.number);
  }

  size() {
    const box = this.canvas.getBoundingClientRect(), fit = v => Math.min(8192, Math.max(64, Math.round(v)));
    return [fit(box.width), fit(box.height), Math.min(8, Math.max(0.25, window.devicePixelRatio || 1))];
  }

  hello() {
    this.told = this.size().join();
    return new Bytes('h').u32(VERSION).f32(this.size()[0]).f32(this.size()[1]).f32(this.size()[2]).u8(this.dark() ? 1 : 0).done();
  }

  resize() {
    const [width, height, ratio] = this.size();
    if (this.told === undefined || this.told === [width, height, ratio].join() || this.canvas.getBoundingClientRect().width === 0) return;
    this.told = [width, height, ratio].join();
    this.event(b => b.u8(7).f32(width).f32(height).f32(ratio));
  }

  theme() { this.event(b => b.u8(8).u8(this.dark() ? 1 : 0)); }

  place(bytes, e) {
    const clamp = v => Math.min(65000, Math.max(-65000, v)), box = this.canvas.getBoundingClientRect();
    return bytes.u8(1).f32(clamp(e.clientX - box.left)).f32(clamp(e.clientY - box.top));
  }

  press(e, down) {
    const button = [0, 2, 1][e.button] ?? -1;   // ImGui: left, right, middle
    if (button < 0) return;
    if (down) {
      this.canvas.focus({ preventScroll: true });
      this.canvas.setPointerCapture(e.pointerId);
      e.preventDefault();
    }
    this.buttons = down ? this.buttons | 1 << button : this.buttons & ~(1 << button);
    this.event(b => this.place(b, e).u8(2).u16(button).u8(down ? 1 : 0));
  }

  modifiersOf(e) {
    const control = mac ? e.metaKey || e.ctrlKey : e.ctrlKey;
    return (control ? 1 : 0) | (e.shiftKey ? 2 : 0) | (e.altKey ? 4 : 0);
  }

  wheel(e) {
    e.preventDefault();
    const unit = [1 / 100, 1 / 3, 10][e.deltaMode] ?? 1 / 100, notches = v => Math.min(100, Math.max(-100, -v * unit));
    this.event(b => this.place(b, e).u8(3).f32(notches(e.deltaX)).f32(notches(e.deltaY)).u8(this.modifiersOf(e)));
  }

  key(e, down) {
    const modifiers = this.modifiersOf(e), control = (modifiers & 1) !== 0 && !e.getModifierState('AltGraph');
    if (!down) {
      const number = this.down.get(e.code);
      this.down.delete(e.code);
      if (number !== undefined) this.event(b => b.u8(4).u16(number).u8(0).u8(modifiers));
      return;
    }
    const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    if (e.isComposing || (key === 'Tab' && e.shiftKey)) return;   // shift and Tab leave the canvas
    if (control && !(key.length === 1 && WITH_CONTROL.includes(key)) && !KEYS[e.key]) return;
    if (control && e.shiftKey && /[a-z]/.test(key)) return;
    if (control && key === 'v') return;   // the paste that follows has the text
    const number = KEYS[e.key] ?? (/^[a-z0-9]$/.test(key) ? key.toUpperCase().charCodeAt(0) : 0);
    const typed = [...e.key].length === 1 && !control && !e.metaKey ? e.key : '';
    if (!number && !typed) return;
    e.preventDefault();
    this.event(b => {
      if (number) { this.down.set(e.code, number); b.u8(4).u16(number).u8(1).u8(modifiers); }
      if (typed) b.u8(5).text(typed);
    });
  }

  paste(e) {
    if (document.activeElement !== this.canvas) return;
    const text = e.clipboardData?.getData('text/plain') ?? '';
    e.preventDefault();
    const v = 'V'.charCodeAt(0);
    this.event(b => b.u8(9).text(text).u8(4).u16(v).u8(1).u8(1).u8(4).u16(v).u8(0).u8(0));
  }
}
