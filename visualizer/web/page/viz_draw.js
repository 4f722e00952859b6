// Draws frames into a canvas with WebGL 2, as ImGui's OpenGL 3 backend does.
const VERTEX = `#version 300 es
uniform vec2 u_screen;  // 2 / width, -2 / height
in vec2 a_place;
in vec2 a_part;
in vec4 a_colour;
out vec2 v_part;
out vec4 v_colour;
void main() {
  v_part = a_part / 65536.0;
  v_colour = a_colour;
  gl_Position = vec4(a_place * u_screen + vec2(-1.0, 1.0), 0.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D u_texture;
uniform float u_coverage;
in vec2 v_part;
in vec4 v_colour;
out vec4 colour;
void main() {
  vec4 texel = texture(u_texture, v_part);
  colour = v_colour * (u_coverage > 0.5 ? vec4(1.0, 1.0, 1.0, texel.r) : texel);
}`;

export class Drawing {
  // Throws Error where the browser has no WebGL 2.
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext('webgl2', { alpha: false, antialias: false, depth: false, stencil: false });
    if (!this.gl) throw new Error('this browser has no WebGL 2');
    this.sources = new Map();   // textures as sent: a lost context needs them again
    this.lost = e => { e.preventDefault(); this.ready = false; };
    this.restored = () => { this.build(); if (this.frame) this.draw(this.frame); };
    canvas.addEventListener('webglcontextlost', this.lost);
    canvas.addEventListener('webglcontextrestored', this.restored);
    this.build();
  }

  end() {
    this.canvas.removeEventListener('webglcontextlost', this.lost);
    this.canvas.removeEventListener('webglcontextrestored', this.restored);
  }

  build() {
    const gl = this.gl;
    if (gl.isContextLost()) return;
    const shader = (kind, source) => {
      const s = gl.createShader(kind);
      gl.shaderSource(s, source);
      gl.compileShader(s);
      return s;
    };
    this.program = gl.createProgram();
    gl.attachShader(this.program, shader(gl.VERTEX_SHADER, VERTEX));
    gl.attachShader(this.program, shader(gl.FRAGMENT_SHADER, FRAGMENT));
    ['a_place', 'a_part', 'a_colour'].forEach((name, i) => { gl.bindAttribLocation(this.program, i, name); gl.enableVertexAttribArray(i); });
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS)) throw new Error(`WebGL refused the shaders: ${gl.getProgramInfoLog(this.program)}`);
    this.screen = gl.getUniformLocation(this.program, 'u_screen');
    this.coverage = gl.getUniformLocation(this.program, 'u_coverage');
    this.buffers = new Map();   // of each draw list
    this.free = [];
    this.textures = new Map();
    this.ready = true;
    for (const texture of this.sources.values()) this.upload(texture);
  }

  // Keeps the pixels: a lost context needs them again.
  texture({ id, width, height, channels, fresh, pieces }) {
    let held = this.sources.get(id);
    if (fresh || !held) {
      held = { id, width, height, channels, pixels: new Uint8Array(width * height * channels) };
      this.sources.set(id, held);
      if (this.ready) this.upload(held);
    }
    let top = height, bottom = 0;
    for (const piece of pieces) {
      const row = piece.width * channels;
      for (let y = 0; y < piece.height; ++y)
        held.pixels.set(piece.pixels.subarray(y * row, (y + 1) * row), ((piece.y + y) * width + piece.x) * channels);
      top = Math.min(top, piece.y);
      bottom = Math.max(bottom, piece.y + piece.height);
    }
    if (this.ready && top < bottom) this.uploadRows(held, top, bottom);
  }

  format(texture) { return texture.channels === 1 ? this.gl.RED : this.gl.RGBA; }

  upload(texture) {
    const gl = this.gl;
    const name = this.textures.get(texture.id) ?? gl.createTexture();
    this.textures.set(texture.id, name);
    gl.bindTexture(gl.TEXTURE_2D, name);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.LINEAR);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, texture.channels === 1 ? gl.R8 : gl.RGBA, texture.width, texture.height, 0, this.format(texture), gl.UNSIGNED_BYTE, texture.pixels);
  }

  uploadRows(texture, top, bottom) {
    const gl = this.gl, row = texture.width * texture.channels;
    gl.bindTexture(gl.TEXTURE_2D, this.textures.get(texture.id));
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, top, texture.width, bottom - top, this.format(texture), gl.UNSIGNED_BYTE, texture.pixels.subarray(top * row, bottom * row));
  }

  // A list that was drawn before keeps its buffers.
  bind(list) {
    const gl = this.gl;
    let pair = this.buffers.get(list);
    if (!pair) {
      pair = this.free.pop() ?? { vertices: gl.createBuffer(), indices: gl.createBuffer() };
      this.buffers.set(list, pair);
      gl.bindBuffer(gl.ARRAY_BUFFER, pair.vertices);
      gl.bufferData(gl.ARRAY_BUFFER, list.vertices, gl.STREAM_DRAW);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, pair.indices);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, list.indices, gl.STREAM_DRAW);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, pair.vertices);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, pair.indices);
  }

  attributes(firstVertex) {
    const gl = this.gl, size = 16, from = firstVertex * size;
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, size, from);
    gl.vertexAttribPointer(1, 2, gl.UNSIGNED_SHORT, false, size, from + 8);
    gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, size, from + 12);
  }

  draw(frame) {
    this.frame = frame;
    if (!this.ready) return;
    const gl = this.gl, width = Math.round(frame.width * frame.ratio), height = Math.round(frame.height * frame.ratio);
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    gl.viewport(0, 0, width, height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(frame.background[0] / 255, frame.background[1] / 255, frame.background[2] / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(this.program);
    gl.uniform2f(this.screen, 2 / frame.width, -2 / frame.height);
    const kept = new Set(frame.lists);
    for (const [list, pair] of this.buffers)
      if (!kept.has(list)) { this.free.push(pair); this.buffers.delete(list); }
    for (const list of frame.lists) {
      this.bind(list);
      let first = -1;
      for (const command of list.commands) {
        const x = Math.trunc(command.clip[0] * frame.ratio), y = Math.trunc(command.clip[1] * frame.ratio);
        const x1 = Math.trunc(command.clip[2] * frame.ratio), y1 = Math.trunc(command.clip[3] * frame.ratio);
        if (x1 <= x || y1 <= y) continue;
        gl.scissor(x, height - y1, x1 - x, y1 - y);
        const source = this.sources.get(command.texture);
        if (!source) continue;
        gl.bindTexture(gl.TEXTURE_2D, this.textures.get(command.texture));
        gl.uniform1f(this.coverage, source.channels === 1 ? 1 : 0);
        if (first !== command.firstVertex) this.attributes(first = command.firstVertex);
        gl.drawElements(gl.TRIANGLES, command.count, gl.UNSIGNED_SHORT, 2 * command.firstIndex);
      }
    }
  }
}
