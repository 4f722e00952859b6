// Draws frames into a canvas with WebGL 2, as ImGui's OpenGL 3 backend does.
const VERTEX = `#version 300 es
uniform vec3 u_screen;  // 2 / width, -2 / height, the place's unit in pixels
in vec2 a_place;
in vec2 a_part;
in vec4 a_colour;
out vec2 v_part;
out vec4 v_colour;
void main() {
  v_part = a_part / 65536.0;
  v_colour = a_colour;
  gl_Position = vec4(a_place * u_screen.z * u_screen.xy + vec2(-1.0, 1.0), 0.0, 1.0);
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
    this.gl = canvas.getContext('webgl2', { alpha: false, antialias: false, depth: false, stencil: false, preserveDrawingBuffer: true });
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

  texture(texture) {
    this.sources.set(texture.id, texture);
    if (this.ready) this.upload(texture);
  }

  upload(texture) {
    const gl = this.gl, grey = texture.channels === 1;
    const name = this.textures.get(texture.id) ?? gl.createTexture();
    this.textures.set(texture.id, name);
    gl.bindTexture(gl.TEXTURE_2D, name);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.LINEAR);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, grey ? gl.R8 : gl.RGBA, texture.width, texture.height, 0, grey ? gl.RED : gl.RGBA, gl.UNSIGNED_BYTE, texture.pixels);
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

  attributes(list, firstVertex) {
    const gl = this.gl, stride = 2 * list.stride, from = firstVertex * stride, places = list.floats ? 8 : 4;
    gl.vertexAttribPointer(0, 2, list.floats ? gl.FLOAT : gl.SHORT, false, stride, from);
    gl.vertexAttribPointer(1, 2, gl.UNSIGNED_SHORT, false, stride, from + places);
    gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, stride, from + places + 4);
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
    const kept = new Set(frame.lists);
    for (const [list, pair] of this.buffers)
      if (!kept.has(list)) { this.free.push(pair); this.buffers.delete(list); }
    for (const list of frame.lists) {
      this.bind(list);
      gl.uniform3f(this.screen, 2 / frame.width, -2 / frame.height, list.floats ? 1 : 2 ** -list.point);
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
        if (first !== command.firstVertex) this.attributes(list, first = command.firstVertex);
        gl.drawElements(gl.TRIANGLES, command.count, gl.UNSIGNED_SHORT, 2 * command.firstIndex);
      }
    }
  }
}
