// What `ridge-viz --web` sends, as objects: README.md has the layout. Little-endian, as every browser's machine.
export const VERSION = 1;
const MOST_MESSAGE = 96 << 20;   // bytes, unpacked: the largest atlas and a frame
const text = new TextDecoder();

export class StreamError extends Error {}

// Unpacks chunks of the one compressed stream into messages, in order.
export class Inflater {
  constructor(take) {
    this.take = take;
    const stream = new DecompressionStream('deflate-raw');
    this.writer = stream.writable.getWriter();
    this.held = new Uint8Array(1 << 20);
    this.size = 0;
    this.failed = this.run(stream.readable.getReader());
  }

  add(bytes) { this.writer.write(bytes).catch(() => {}); }   // `failed` has the reason
  end() { this.writer.abort().catch(() => {}); }

  async run(reader) {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      if (this.size + value.length > this.held.length) {
        const larger = new Uint8Array(2 * (this.size + value.length));
        larger.set(this.held.subarray(0, this.size));
        this.held = larger;
      }
      this.held.set(value, this.size);
      this.size += value.length;
      let at = 0;
      while (this.size - at >= 4) {
        const length = new DataView(this.held.buffer, at).getUint32(0, true);
        if (length < 1 || length > MOST_MESSAGE) throw new StreamError(`a message has ${length} bytes`);
        if (this.size - at < 4 + length) break;
        this.take(String.fromCharCode(this.held[at + 4]), this.held.slice(at + 5, at + 4 + length));
        at += 4 + length;
      }
      this.held.copyWithin(0, at, this.size);
      this.size -= at;
    }
  }
}

class Reader {
  constructor(bytes) { this.bytes = bytes; this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length); this.at = 0; }
  skip(count) {
    const from = this.at;
    if (count > this.bytes.length - from) throw new StreamError('a message ends too early');
    this.at += count;
    return from;
  }
  u8() { return this.view.getUint8(this.skip(1)); }
  u16() { return this.view.getUint16(this.skip(2), true); }
  u32() { return this.view.getUint32(this.skip(4), true); }
  f32() { return this.view.getFloat32(this.skip(4), true); }
  plane(count) { const from = this.skip(count); return this.bytes.subarray(from, from + count); }
  text() { return text.decode(this.plane(this.u32())); }
  rest() { return this.bytes.subarray(this.at); }
}

// A column comes as the differences of neighbours, in planes: all low bytes, then all next ones. It goes into every 8th of `out`.
function places(reader, out, from, to, offset) {   // signed, of 1/256 pixel
  const planes = [0, 1, 2].map(() => reader.plane(to - from));
  let value = 0;
  for (let i = from, k = 0; i < to; ++i, ++k) {
    value += planes[0][k] | planes[1][k] << 8 | planes[2][k] << 16;
    out[4 * i + offset] = (value << 8 >> 8) / 256;
  }
}
function parts(reader, out, from, to, offset) {
  const low = reader.plane(to - from), high = reader.plane(to - from);
  let value = 0;
  for (let i = from, k = 0; i < to; ++i, ++k) out[8 * i + offset] = value = (value + (low[k] | high[k] << 8)) & 0xFFFF;
}
function whole(reader, out, from, to, offset) {
  const planes = [0, 1, 2, 3].map(() => reader.plane(to - from));
  let value = 0;
  for (let i = from, k = 0; i < to; ++i, ++k) {
    value = (value + (planes[0][k] | planes[1][k] << 8 | planes[2][k] << 16 | planes[3][k] << 24)) | 0;
    out[4 * i + offset] = value;
  }
}

// A draw list: vertices as the GPU takes them (x and y as floats, u and v of 16 bits, a colour: 16 bytes), indices, and their
// differences, which the next frame refers to.
function readList(reader, base) {
  const floats = reader.u8() === 1;
  const count = reader.u32(), head = reader.u32(), tail = reader.u32();
  if (count > 1 << 24 || head + tail > count) throw new StreamError('a draw list has impossible counts');
  if (head + tail > 0 && (!base || Math.max(head, tail) > base.count)) throw new StreamError('a draw list refers to what was not sent');
  const vertices = new Uint16Array(8 * count);
  if (head) vertices.set(base.vertices.subarray(0, 8 * head));
  if (tail) vertices.set(base.vertices.subarray(8 * (base.count - tail)), 8 * (count - tail));
  const numbers = new Float32Array(vertices.buffer), words = new Int32Array(vertices.buffer), to = count - tail;
  for (const offset of [0, 1])
    if (floats) whole(reader, words, head, to, offset); else places(reader, numbers, head, to, offset);
  parts(reader, vertices, head, to, 4);
  parts(reader, vertices, head, to, 5);
  whole(reader, words, head, to, 3);
  const total = reader.u32(), first = reader.u32(), last = reader.u32();
  if (total > 1 << 26 || first + last > total || (first + last > 0 && (!base || Math.max(first, last) > base.steps.length)))
    throw new StreamError('a draw list has impossible counts of indices');
  const steps = new Uint16Array(total);
  if (first) steps.set(base.steps.subarray(0, first));
  if (last) steps.set(base.steps.subarray(base.steps.length - last), total - last);
  const middle = total - first - last, low = reader.plane(middle), high = reader.plane(middle);
  for (let i = 0; i < middle; ++i) steps[first + i] = low[i] | high[i] << 8;
  const indices = new Uint16Array(total);
  for (let i = 0, value = 0; i < total; ++i) indices[i] = value = (value + steps[i]) & 0xFFFF;
  const commands = [];
  for (let left = reader.u16(); left > 0; --left) {
    const command = { clip: [reader.f32(), reader.f32(), reader.f32(), reader.f32()], texture: reader.u32(), count: reader.u32(), firstIndex: reader.u32(), firstVertex: reader.u32() };
    if (command.firstIndex + command.count > total || command.firstVertex > count) throw new StreamError('a draw command is outside its list');
    commands.push(command);
  }
  return { count, vertices, indices, steps, commands };
}

// `last`: the lists of the frame before.
export function readFrame(bytes, last) {
  const reader = new Reader(bytes);
  const frame = { number: reader.u32(), input: reader.u32(), width: reader.f32(), height: reader.f32(), ratio: reader.f32(),
    background: [reader.u8(), reader.u8(), reader.u8(), reader.u8()], cursor: reader.u8(), wantsText: reader.u8() === 1, lists: [] };
  for (let left = reader.u16(); left > 0; --left) {
    const changed = reader.u8() === 1, from = reader.u16();
    if (!changed && from >= last.length) throw new StreamError('a frame refers to a list that was not sent');
    frame.lists.push(changed ? readList(reader, last[from]) : last[from]);
  }
  return frame;
}

// Pieces of a texture: `fresh` ones begin a new one, which is empty elsewhere.
export function readTexture(bytes) {
  const reader = new Reader(bytes);
  const texture = { id: reader.u32(), width: reader.u32(), height: reader.u32(), channels: reader.u8(), fresh: reader.u8() === 1, pieces: [] };
  if (texture.width * texture.height > MOST_MESSAGE) throw new StreamError('a texture is too large');
  for (let left = reader.u32(); left > 0; --left) {
    const piece = { x: reader.u16(), y: reader.u16(), width: reader.u16(), height: reader.u16() };
    if (piece.x + piece.width > texture.width || piece.y + piece.height > texture.height) throw new StreamError('a piece is outside its texture');
    piece.pixels = reader.plane(piece.width * piece.height * texture.channels);
    texture.pieces.push(piece);
  }
  return texture;
}

export function readDownload(bytes) {
  const reader = new Reader(bytes);
  return { name: reader.text(), content: reader.rest() };
}
export const readText = bytes => text.decode(bytes);
