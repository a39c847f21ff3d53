// SPDX-License-Identifier: Apache-2.0
// The 3D view of a report: shows the binary glTF that stands in the page.  No library, no network, nothing evaluated.
"use strict";
(() => {
  const VERTEX = `#version 300 es
    layout(location=0) in vec3 place; layout(location=1) in vec3 normal;
    layout(location=2) in vec2 spot; layout(location=3) in vec4 tint;
    uniform mat4 model, view; uniform vec4 shift; out vec3 at, up; out vec2 uv; out vec4 paint;
    void main() {
      vec4 world = model * vec4(place, 1.0);
      at = world.xyz; up = transpose(inverse(mat3(model))) * normal; uv = spot * shift.xy + shift.zw; paint = tint;
      gl_Position = view * world;
    }`;
  const FRAGMENT = `#version 300 es
    precision highp float;
    in vec3 at, up; in vec2 uv; in vec4 paint;
    uniform vec4 color, mark; uniform vec3 eye; uniform float glow, gloss; uniform bool textured; uniform sampler2D image;
    out vec4 pixel;
    void main() {
      vec4 base = color * paint;
      if (textured) { vec4 t = texture(image, uv); base *= vec4(pow(t.rgb, vec3(2.2)), t.a); }
      vec3 n = normalize(gl_FrontFacing ? up : -up), v = normalize(eye - at);
      vec3 k = normalize(normalize(eye) * 0.4 + vec3(0.35, 1.0, 0.25));
      float sky = 0.5 + 0.5 * n.y;
      vec3 light = mix(vec3(0.20, 0.20, 0.22), vec3(0.52, 0.55, 0.60), sky) + vec3(0.75, 0.72, 0.68) * max(dot(n, k), 0.0);
      float shine = pow(max(dot(n, normalize(k + v)), 0.0), 30.0) * gloss;
      float rim = pow(1.0 - max(dot(n, v), 0.0), 3.0) * 0.12;
      vec3 c = mix(base.rgb, mark.rgb, mark.a) * light + shine + rim + glow * vec3(0.10, 0.16, 0.24);
      pixel = vec4(pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2)), base.a);
    }`;
  const LINE = `#version 300 es
    precision highp float;
    in vec3 at; uniform vec3 middle; uniform float reach; uniform vec4 color; out vec4 pixel;
    void main() { pixel = vec4(color.rgb, color.a * clamp(1.0 - distance(at, middle) / reach, 0.0, 1.0)); }`;
  const NUMBER = `#version 300 es
    precision highp float;
    uniform vec4 color; out vec4 pixel; void main() { pixel = color; }`;
  const MARKS = { error: [0.80, 0.02, 0.04, 0.78], warning: [0.90, 0.36, 0.01, 0.78], info: [0.05, 0.30, 0.80, 0.70] };
  const PARTS = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 };
  const KINDS = { 5121: Uint8Array, 5123: Uint16Array, 5125: Uint32Array, 5126: Float32Array };
  const FIELD = 30 * Math.PI / 180;

  function multiply(a, b) {
    const out = new Float32Array(16);
    for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + r] * b[c * 4 + k];
      out[c * 4 + r] = sum;
    }
    return out;
  }
  function place(node) {
    if (node.matrix) return new Float32Array(node.matrix);
    const [x, y, z, w] = node.rotation || [0, 0, 0, 1], s = node.scale || [1, 1, 1], t = node.translation || [0, 0, 0];
    return new Float32Array([
      (1 - 2 * (y * y + z * z)) * s[0], 2 * (x * y + z * w) * s[0], 2 * (x * z - y * w) * s[0], 0,
      2 * (x * y - z * w) * s[1], (1 - 2 * (x * x + z * z)) * s[1], 2 * (y * z + x * w) * s[1], 0,
      2 * (x * z + y * w) * s[2], 2 * (y * z - x * w) * s[2], (1 - 2 * (x * x + y * y)) * s[2], 0, ...t, 1]);
  }
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

  function read(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const head = new DataView(bytes.buffer), length = head.getUint32(12, true);
    const document = JSON.parse(new TextDecoder().decode(bytes.subarray(20, 20 + length)));
    return { document, bytes, first: 28 + length };
  }

  function start(box) {
    const canvas = box.querySelector("canvas"), told = box.querySelector(".told");
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: false });
    if (!gl) return;
    const file = read(box.querySelector(".glb").textContent);
    const links = JSON.parse(box.querySelector(".links").textContent);
    const g = file.document, marks = new Map(links.map((link, i) => [link.name, { ...link, number: i }]));

    const compile = (vertex, fragment) => {
      const program = gl.createProgram();
      for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, source); gl.compileShader(shader); gl.attachShader(program, shader);
      }
      gl.linkProgram(program);
      if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) || "shader");
      const find = {};
      const number = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
      for (let i = 0; i < number; i++) {
        const name = gl.getActiveUniform(program, i).name;
        find[name] = gl.getUniformLocation(program, name);
      }
      return { program, find };
    };
    const solid = compile(VERTEX, FRAGMENT), lines = compile(VERTEX, LINE), picked = compile(VERTEX, NUMBER);

    // numbers of an accessor, packed one after the other
    const take = (index) => {
      const a = g.accessors[index], v = g.bufferViews[a.bufferView], parts = PARTS[a.type], kind = KINDS[a.componentType];
      const start = file.first + (v.byteOffset || 0) + (a.byteOffset || 0), size = parts * kind.BYTES_PER_ELEMENT;
      const stride = v.byteStride || size, packed = new Uint8Array(a.count * size);
      for (let i = 0; i < a.count; i++) packed.set(file.bytes.subarray(start + i * stride, start + i * stride + size), i * size);
      return { data: new kind(packed.buffer), parts, a };
    };
    const upload = (target, data) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(target, buffer); gl.bufferData(target, data, gl.STATIC_DRAW);
      return buffer;
    };
    const makeNormals = (places, indices) => {
      const out = new Float32Array(places.length), number = indices ? indices.length : places.length / 3;
      for (let i = 0; i < number; i += 3) {
        const c = [0, 1, 2].map((k) => (indices ? indices[i + k] : i + k) * 3);
        const p = c.map((k) => places.subarray(k, k + 3));
        const n = cross(p[1].map((v, k) => v - p[0][k]), p[2].map((v, k) => v - p[0][k]));
        for (const k of c) for (let d = 0; d < 3; d++) out[k + d] += n[d];
      }
      return out;
    };
    const shapes = new Map();
    const build = (primitive) => {
      const key = JSON.stringify([primitive.attributes, primitive.indices]);
      if (shapes.has(key)) return shapes.get(key);
      const array = gl.createVertexArray(), given = primitive.attributes, shape = { array };
      gl.bindVertexArray(array);
      const points = take(given.POSITION), indices = primitive.indices === undefined ? null : take(primitive.indices).data;
      const set = (location, data, parts, kind = gl.FLOAT, normalized = false) => {
        upload(gl.ARRAY_BUFFER, data);
        gl.enableVertexAttribArray(location); gl.vertexAttribPointer(location, parts, kind, normalized, 0, 0);
      };
      set(0, points.data, 3);
      set(1, given.NORMAL === undefined ? makeNormals(points.data, indices) : take(given.NORMAL).data, 3);
      if (given.TEXCOORD_0 !== undefined) { const t = take(given.TEXCOORD_0); set(2, t.data, 2, t.a.componentType, !!t.a.normalized); }
      if (given.COLOR_0 !== undefined) { const t = take(given.COLOR_0); set(3, t.data, t.parts, t.a.componentType, !!t.a.normalized); }
      if (indices) {
        upload(gl.ELEMENT_ARRAY_BUFFER, indices);
        shape.kind = { 1: gl.UNSIGNED_BYTE, 2: gl.UNSIGNED_SHORT, 4: gl.UNSIGNED_INT }[indices.BYTES_PER_ELEMENT];
      }
      shape.count = indices ? indices.length : points.a.count;
      shape.lower = points.a.min; shape.upper = points.a.max; shape.tinted = given.COLOR_0 !== undefined;
      gl.bindVertexArray(null);
      shapes.set(key, shape);
      return shape;
    };
    const textures = new Map();
    const load = (index) => {
      if (textures.has(index)) return textures.get(index);
      const slot = { texture: null }, source = g.textures[index].source, image = g.images[source === undefined ? -1 : source];
      textures.set(index, slot);
      if (!image || image.bufferView === undefined) return slot;
      const v = g.bufferViews[image.bufferView], from = file.first + (v.byteOffset || 0);
      createImageBitmap(new Blob([file.bytes.subarray(from, from + v.byteLength)], { type: image.mimeType })).then((bitmap) => {
        const texture = gl.createTexture();
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, bitmap);
        gl.generateMipmap(gl.TEXTURE_2D);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
        slot.texture = texture; ask();
      }).catch(() => {});
      return slot;
    };

    const draws = [], own = [], all = [];
    const walk = (index, parent, link) => {
      const node = g.nodes[index], matrix = multiply(parent, place(node));
      if (((node.extras || {}).simwright || {}).role === "body") link = node.name || "";
      for (const primitive of node.mesh === undefined ? [] : g.meshes[node.mesh].primitives) {
        if (primitive.mode !== undefined && primitive.mode !== 4) continue;
        const shape = build(primitive), look = (g.materials || [])[primitive.material] || {};
        const pbr = look.pbrMetallicRoughness || {}, map = pbr.baseColorTexture;
        const moved = ((map || {}).extensions || {}).KHR_texture_transform || {};
        draws.push({
          shape, matrix, link, color: pbr.baseColorFactor || [1, 1, 1, 1], clear: look.alphaMode === "BLEND",
          image: map ? load(map.index) : null, shift: [...(moved.scale || [1, 1]), ...(moved.offset || [0, 0])],
          gloss: 0.35 * (1 - (pbr.roughnessFactor === undefined ? 1 : pbr.roughnessFactor)),
        });
        for (let i = 0; i < 8; i++) {
          const c = [0, 1, 2].map((k) => (i >> k & 1 ? shape.upper : shape.lower)[k]);
          const corner = [0, 1, 2].map((r) => matrix[r] * c[0] + matrix[4 + r] * c[1] + matrix[8 + r] * c[2] + matrix[12 + r]);
          all.push(corner); if (link) own.push(corner);
        }
      }
      for (const child of node.children || []) walk(child, matrix, link);
    };
    const one = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    for (const root of g.scenes[g.scene || 0].nodes) walk(root, one, "");
    if (!draws.length) return;
    draws.sort((a, b) => a.clear - b.clear);
    const names = [...new Set(draws.map((d) => d.link))];

    const seen = own.length ? own : all;
    const lower = [0, 1, 2].map((k) => Math.min(...seen.map((c) => c[k]))), upper = [0, 1, 2].map((k) => Math.max(...seen.map((c) => c[k])));
    const centre = lower.map((v, k) => (v + upper[k]) / 2), radius = Math.max(Math.hypot(...upper.map((v, k) => v - lower[k])) / 2, 1e-4);
    const flat = (upper[1] - lower[1]) / Math.max(upper[0] - lower[0], upper[2] - lower[2], 1e-6);
    const home = () => ({ turn: 0.95, lift: flat < 0.3 ? 0.75 : 0.32, away: radius / Math.sin(FIELD / 2) * 1.02, at: [...centre] });
    let camera = home(), wish = "", over = "", due = 0;

    const cell = 10 ** Math.floor(Math.log10(radius)) * (radius / 10 ** Math.floor(Math.log10(radius)) > 3 ? 1 : 0.5), rows = [];
    for (let i = -20; i <= 20; i++) rows.push(i, 0, -20, i, 0, 20, -20, 0, i, 20, 0, i);
    const grid = gl.createVertexArray();
    gl.bindVertexArray(grid);
    upload(gl.ARRAY_BUFFER, new Float32Array(rows));
    gl.enableVertexAttribArray(0); gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.bindVertexArray(null);
    const ground = new Float32Array([cell, 0, 0, 0, 0, cell, 0, 0, 0, 0, cell, 0, Math.round(centre[0] / cell) * cell, lower[1], Math.round(centre[2] / cell) * cell, 1]);

    const look = () => {
      const { turn, lift, away, at } = camera, wide = canvas.width / canvas.height;
      const back = [Math.cos(lift) * Math.sin(turn + Math.PI / 2), Math.sin(lift), Math.cos(lift) * Math.cos(turn + Math.PI / 2)];
      const eye = at.map((v, k) => v + back[k] * away), right = cross([0, 1, 0], back);
      const length = Math.hypot(...right) || 1, r = right.map((v) => v / length), u = cross(back, r);
      const near = Math.max(away - 3 * radius, away / 100), far = away + 30 * radius, f = 1 / Math.tan(FIELD / 2) / Math.max(1, 1 / wide);
      const turned = new Float32Array([r[0], u[0], back[0], 0, r[1], u[1], back[1], 0, r[2], u[2], back[2], 0, -dot(r, eye), -dot(u, eye), -dot(back, eye), 1]);
      const lens = new Float32Array([f / wide, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]);
      return { view: multiply(lens, turned), eye, right: r, up: u };
    };
    const bind = (d) => { gl.bindVertexArray(d.shape.array); };
    const put = (shape) => shape.kind ? gl.drawElements(gl.TRIANGLES, shape.count, shape.kind, 0) : gl.drawArrays(gl.TRIANGLES, 0, shape.count);
    const draw = () => {
      due = 0;
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio)); canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.enable(gl.DEPTH_TEST); gl.enable(gl.BLEND);
      gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      const { view, eye } = look();
      gl.useProgram(solid.program);
      gl.uniformMatrix4fv(solid.find.view, false, view); gl.uniform3fv(solid.find.eye, eye); gl.uniform1i(solid.find.image, 0);
      for (const d of draws) {
        const mark = marks.get(d.link), texture = d.image && d.image.texture;
        bind(d);
        if (!d.shape.tinted) gl.vertexAttrib4f(3, 1, 1, 1, 1);
        gl.depthMask(!d.clear);
        gl.uniformMatrix4fv(solid.find.model, false, d.matrix); gl.uniform4fv(solid.find.color, d.color); gl.uniform4fv(solid.find.shift, d.shift);
        gl.uniform4fv(solid.find.mark, mark ? MARKS[mark.level] || MARKS.info : [0, 0, 0, 0]);
        gl.uniform1f(solid.find.glow, d.link && (d.link === over || d.link === wish) ? 1 : 0); gl.uniform1f(solid.find.gloss, d.gloss);
        gl.uniform1i(solid.find.textured, texture ? 1 : 0);
        if (texture) { gl.activeTexture(gl.TEXTURE0); gl.bindTexture(gl.TEXTURE_2D, texture); }
        put(d.shape);
      }
      gl.depthMask(false);
      gl.useProgram(lines.program);
      gl.uniformMatrix4fv(lines.find.view, false, view); gl.uniformMatrix4fv(lines.find.model, false, ground);
      gl.uniform3fv(lines.find.middle, [centre[0], lower[1], centre[2]]); gl.uniform1f(lines.find.reach, 3.2 * radius);
      gl.uniform4fv(lines.find.color, [0.45, 0.50, 0.57, 0.55]);
      gl.bindVertexArray(grid); gl.drawArrays(gl.LINES, 0, rows.length / 3);
      gl.depthMask(true); gl.bindVertexArray(null);
    };
    const ask = () => { if (!due) due = requestAnimationFrame(draw); };

    // which link is under the pointer: the same picture once more with numbers for colours, of one pixel
    const frame = gl.createFramebuffer(), sheet = gl.createTexture(), depth = gl.createRenderbuffer();
    const answer = gl.createBuffer();
    let kept = "", waiting = null, at = null, moved = false;
    const pick = (x, y) => {
      if (kept !== `${canvas.width}x${canvas.height}`) {
        kept = `${canvas.width}x${canvas.height}`;
        gl.bindTexture(gl.TEXTURE_2D, sheet);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, canvas.width, canvas.height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
        gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
        gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT16, canvas.width, canvas.height);
        gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, sheet, 0);
        gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
      }
      const column = Math.floor(x / canvas.clientWidth * canvas.width), row = canvas.height - 1 - Math.floor(y / canvas.clientHeight * canvas.height);
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      gl.enable(gl.SCISSOR_TEST); gl.scissor(column, row, 1, 1); gl.disable(gl.BLEND); gl.enable(gl.DEPTH_TEST);
      gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.useProgram(picked.program);
      gl.uniformMatrix4fv(picked.find.view, false, look().view);
      for (const d of draws) {
        const number = names.indexOf(d.link) + 1;
        bind(d);
        gl.uniformMatrix4fv(picked.find.model, false, d.matrix);
        gl.uniform4fv(picked.find.color, [(number & 255) / 255, (number >> 8 & 255) / 255, (number >> 16 & 255) / 255, 1]);
        put(d.shape);
      }
      // into a buffer that is read when it is there: waiting for it would hold everything up
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, answer);
      gl.bufferData(gl.PIXEL_PACK_BUFFER, 4, gl.STREAM_READ);
      gl.readPixels(column, row, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, 0);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      waiting = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
      gl.flush();
      gl.disable(gl.SCISSOR_TEST); gl.bindFramebuffer(gl.FRAMEBUFFER, null); gl.bindVertexArray(null);
      requestAnimationFrame(hear);
    };
    const hear = () => {
      if (gl.getSyncParameter(waiting, gl.SYNC_STATUS) !== gl.SIGNALED) { requestAnimationFrame(hear); return; }
      gl.deleteSync(waiting);
      waiting = null;
      const pixel = new Uint8Array(4);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, answer);
      gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, pixel);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      if (at) tell(names[pixel[0] + 256 * pixel[1] + 65536 * pixel[2] - 1] || "");
      if (at && moved) { moved = false; pick(...at); }
    };
    const point = (x, y) => { at = [x, y]; if (waiting) moved = true; else pick(x, y); };
    const tell = (link) => {
      if (link === over) return;
      over = link;
      const mark = marks.get(link);
      told.textContent = link ? link + (mark && mark.text ? ": " + mark.text : "") : "";
      ask();
    };

    const hands = new Map();
    let spread = 0;
    canvas.addEventListener("pointerdown", (event) => {
      hands.set(event.pointerId, event); canvas.setPointerCapture(event.pointerId); spread = 0;
    });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => { hands.delete(event.pointerId); spread = 0; });
    canvas.addEventListener("pointerleave", () => { at = null; tell(""); });
    const pan = (dx, dy) => {
      const { right, up } = look(), scale = 2 * camera.away * Math.tan(FIELD / 2) / canvas.clientHeight;
      camera.at = camera.at.map((v, k) => v - right[k] * dx * scale + up[k] * dy * scale);
    };
    const zoom = (factor) => { camera.away = Math.min(Math.max(camera.away * factor, radius * 0.2), radius * 40); };
    canvas.addEventListener("pointermove", (event) => {
      const before = hands.get(event.pointerId);
      if (!before) { const area = canvas.getBoundingClientRect(); point(event.clientX - area.left, event.clientY - area.top); return; }
      const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
      hands.set(event.pointerId, event);
      if (hands.size > 1) {
        const [a, b] = [...hands.values()], far = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
        if (spread) zoom(spread / Math.max(far, 1));
        spread = far; pan(dx / 2, dy / 2);
      } else if (event.shiftKey || event.buttons & 6) pan(dx, dy);
      else { camera.turn -= dx * 0.008; camera.lift = Math.min(Math.max(camera.lift + dy * 0.008, -1.5), 1.5); }
      ask();
    });
    canvas.addEventListener("wheel", (event) => {
      // a page that is scrolled past is not to be caught: the view takes the wheel after a click
      if (document.activeElement !== canvas) return;
      event.preventDefault(); zoom(Math.exp(event.deltaY * 0.0012)); ask();
    }, { passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("dblclick", () => { camera = home(); ask(); });
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: () => { camera.turn -= 0.1; }, ArrowRight: () => { camera.turn += 0.1; }, ArrowUp: () => { camera.lift += 0.1; },
        ArrowDown: () => { camera.lift -= 0.1; }, "+": () => zoom(0.9), "-": () => zoom(1.1), Home: () => { camera = home(); } };
      if (!moves[event.key]) return;
      event.preventDefault(); moves[event.key](); camera.lift = Math.min(Math.max(camera.lift, -1.5), 1.5); ask();
    });
    for (const chip of box.querySelectorAll("[data-link]")) {
      const link = links[Number(chip.dataset.link)].name;
      for (const [name, value] of [["pointerenter", link], ["focus", link], ["pointerleave", ""], ["blur", ""]]) {
        chip.addEventListener(name, () => { wish = value; ask(); });
      }
    }
    new ResizeObserver(ask).observe(canvas);
    box.classList.add("alive");
    ask();
  }

  for (const box of document.querySelectorAll(".view3d")) {
    // without WebGL 2 the picture stays
    try { start(box); } catch { box.classList.remove("alive"); }
  }
})();
