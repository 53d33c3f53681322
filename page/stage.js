// SPDX-License-Identifier: Apache-2.0
// The canvas: the places of levels, the visible part, and overlays.
//
// The plane is measured in pixels of level 0. In the layout "one" every level covers the rectangle of level 0, as when a
// texture is sampled; in "pyramid" all levels are side by side, pixel for pixel, as in `txmill extract --atlas`.

const BORDER_PX = 2; // width of a border around a tile
const MIN_ZOOM = 1 / 512, MAX_ZOOM = 128;

class Stage {
  constructor(canvas, display, changed) {
    Object.assign(this, { canvas, display, changed, file: null, hover: null, layout: "one", level: null,
                          overlays: new Set(["tiles"]), look: { channel: "color", exposure: 0, ground: "checker" } });
    this.context = canvas.getContext("2d", { alpha: false });
    this.blocks = new Blocks(() => this.draw());
    this.zoom = 1; // device pixels per pixel of level 0
    this.left = this.top = 0; // of the plane, at the canvas's corner, in device pixels
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("pointerdown", e => this.startDrag(e));
    canvas.addEventListener("pointermove", e => this.move(e));
    canvas.addEventListener("pointerup", e => this.endDrag(e));
    canvas.addEventListener("pointercancel", e => this.endDrag(e));
    canvas.addEventListener("pointerleave", () => { this.hover = null; this.draw(); });
    canvas.addEventListener("wheel", e => this.wheel(e), { passive: false });
    canvas.addEventListener("dblclick", e => this.zoomAt(2, ...this.at(e)));
    this.pointers = new Map();
  }

  show(file, level = null) {
    this.file = file;
    this.level = level;
    this.hover = null;
    this.fit();
  }

  get ratio() { return window.devicePixelRatio || 1; }

  // ---- places of levels ----

  // Rectangles of the plane, the level shown in each, and device pixels per pixel of the level.
  placed() {
    const f = this.file;
    if (this.layout === "one") {
      const wanted = f.levels[this.wantedLevel()], level = f.shown(wanted.number);
      return level ? [{ wanted, level, x: 0, y: 0, width: f.width, height: f.height }] : [];
    }
    const gap = Math.max(1, Math.round(Math.max(f.width, f.height) / 48));
    let y = 0;
    return f.levels.map((level, n) => {
      const place = { wanted: level, level, x: n ? f.width + gap : 0, y, width: level.width, height: level.height };
      if (n) y += level.height + gap;
      return place;
    });
  }

  planeSize() {
    const all = this.placed();
    return [Math.max(1, ...all.map(p => p.x + p.width)), Math.max(1, ...all.map(p => p.y + p.height))];
  }

  // The chosen level, or the one with about one pixel per device pixel.
  wantedLevel() {
    const last = this.file.levels.length - 1;
    return this.level ?? Math.min(last, Math.max(0, Math.floor(-Math.log2(this.zoom) + 0.01)));
  }

  // ---- moving ----

  resize() {
    const box = this.canvas.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width * this.ratio)), height = Math.max(1, Math.round(box.height * this.ratio));
    if (width === this.canvas.width && height === this.canvas.height) return;
    const fitted = this.fitted;
    this.canvas.width = width;
    this.canvas.height = height;
    if (this.file && fitted) this.fit(); else this.draw();
  }

  fit() {
    const margin = 24 * this.ratio, [w, h] = this.planeSize();
    const zoom = Math.min((this.canvas.width - 2 * margin) / w, (this.canvas.height - 2 * margin) / h);
    this.zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom));
    // Whole factors are preferred if they use nearly as much room, so that all pixels have the same size.
    if (this.zoom > 2) this.zoom = Math.floor(this.zoom);
    this.center(w / 2, h / 2);
    this.fitted = true;
    this.draw();
  }

  center(x, y) {
    this.left = Math.round(this.canvas.width / 2 - x * this.zoom);
    this.top = Math.round(this.canvas.height / 2 - y * this.zoom);
  }

  // One device pixel per pixel of the level.
  actual() {
    const [w, h] = this.planeSize(), level = this.layout === "one" && this.level ? this.file.levels[this.level] : null;
    this.zoomTo(level ? level.width / w : 1);
  }

  zoomTo(zoom, x = this.canvas.width / 2, y = this.canvas.height / 2) {
    const next = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom)), factor = next / this.zoom;
    this.left = Math.round(x - (x - this.left) * factor);
    this.top = Math.round(y - (y - this.top) * factor);
    this.zoom = next;
    this.fitted = false;
    this.draw();
  }

  zoomAt(factor, x, y) { this.zoomTo(this.zoom * factor, x, y); }

  pan(dx, dy) {
    this.left += Math.round(dx);
    this.top += Math.round(dy);
    this.fitted = false;
    this.draw();
  }

  // ---- pointers ----

  at(e) {
    const box = this.canvas.getBoundingClientRect();
    return [(e.clientX - box.left) * this.ratio, (e.clientY - box.top) * this.ratio];
  }

  startDrag(e) {
    this.canvas.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, this.at(e));
    this.canvas.classList.add("dragging");
  }

  endDrag(e) {
    this.pointers.delete(e.pointerId);
    if (!this.pointers.size) this.canvas.classList.remove("dragging");
  }

  move(e) {
    const now = this.at(e), before = this.pointers.get(e.pointerId);
    this.hover = now;
    if (before) {
      const other = [...this.pointers].find(([id]) => id !== e.pointerId)?.[1];
      this.pointers.set(e.pointerId, now);
      if (other) { // two fingers: zoom by their distance
        const distance = p => Math.max(1, Math.hypot(p[0] - other[0], p[1] - other[1]));
        this.zoomAt(distance(now) / distance(before), ...other);
      } else {
        this.pan(now[0] - before[0], now[1] - before[1]);
      }
    }
    this.draw();
  }

  wheel(e) {
    e.preventDefault();
    const lines = e.deltaMode === 1 ? 33 : 1;
    this.zoomAt(2 ** (-e.deltaY * lines / 400), ...this.at(e));
  }

  // The level, pixel and tile under a point of the canvas; null outside all levels.
  under(point) {
    if (!point || !this.file) return null;
    const x = (point[0] - this.left) / this.zoom, y = (point[1] - this.top) / this.zoom;
    const place = this.placed().find(p => x >= p.x && y >= p.y && x < p.x + p.width && y < p.y + p.height);
    if (!place) return null;
    const level = place.level;
    const px = Math.min(level.width - 1, Math.floor((x - place.x) * level.width / place.width));
    const py = Math.min(level.height - 1, Math.floor((y - place.y) * level.height / place.height));
    return { place, level, x: px, y: py, tile: level.tileAt(px, py), samples: this.samplesAt(level, px, py) };
  }

  samplesAt(level, x, y) {
    if (!level.embedded) return null;
    const f = level.file, entry = this.blocks.get(level, Math.floor(x / f.blockWidth), Math.floor(y / f.blockHeight));
    if (!entry.block) return null;
    const at = ((y - entry.block.top) * entry.block.width + x - entry.block.left) * f.channels;
    return Array.from(entry.block.samples.slice(at, at + f.channels));
  }

  // ---- drawing ----

  // Draws once per frame, however often it is requested.
  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      if (this.file) this.drawNow();
      this.changed();
    });
  }

  drawNow() {
    const c = this.context, style = getComputedStyle(this.canvas);
    this.blocks.frame++;
    this.colors = { ground: style.getPropertyValue("--stage"), line: style.getPropertyValue("--line"),
                    border: style.getPropertyValue("--border"), hot: style.getPropertyValue("--hot") };
    c.fillStyle = this.colors.ground;
    c.fillRect(0, 0, this.canvas.width, this.canvas.height);
    for (const place of this.placed()) {
      const view = this.view(place);
      if (view.x1 < 0 || view.y1 < 0 || view.x0 > this.canvas.width || view.y0 > this.canvas.height) continue;
      if (place.level.embedded) this.drawPixels(view); else this.drawMissing(view);
      new Overlay(this, view).draw();
    }
  }

  // The device pixels of a place: X and Y return the edge of a pixel of its level.
  view(place) {
    const sx = place.width / place.level.width * this.zoom, sy = place.height / place.level.height * this.zoom;
    const X = x => Math.round(this.left + place.x * this.zoom + x * sx);
    const Y = y => Math.round(this.top + place.y * this.zoom + y * sy);
    return { place, level: place.level, sx, sy, X, Y, x0: X(0), y0: Y(0), x1: X(place.level.width), y1: Y(place.level.height) };
  }

  // Calls back with each block that is at least partly on the canvas.
  eachBlock(view, use) {
    const { level, sx, sy, x0, y0 } = view, f = level.file;
    const first = (origin, size, count) => Math.min(count, Math.max(0, Math.floor(-origin / size)));
    const bw = f.blockWidth * sx, bh = f.blockHeight * sy;
    for (let y = first(y0, bh, level.blocksY); y < level.blocksY && y0 + y * bh < this.canvas.height; y++)
      for (let x = first(x0, bw, level.blocksX); x < level.blocksX && x0 + x * bw < this.canvas.width; x++)
        use(x, y);
  }

  drawPixels(view) {
    const { level } = view;
    // Until the blocks are decoded, a small level is shown.
    const coarse = level.file.levels.findLast(l => l.embedded && Math.max(l.width, l.height) >= 64) ?? level;
    if (coarse !== level && this.layout === "one") {
      const entry = this.blocks.get(coarse, 0, 0);
      if (entry.block && coarse.blocksX * coarse.blocksY === 1)
        this.drawImage(this.painted(coarse, entry), view.x0, view.y0, view.x1, view.y1);
    }
    this.eachBlock(view, (x, y) => {
      const entry = this.blocks.get(level, x, y), b = entry.block;
      if (b) this.drawImage(this.painted(level, entry), view.X(b.left), view.Y(b.top), view.X(b.left + b.width),
                            view.Y(b.top + b.height));
    });
  }

  drawImage(image, x0, y0, x1, y1) {
    const c = this.context;
    c.imageSmoothingEnabled = x1 - x0 < image.width;
    c.imageSmoothingQuality = "high";
    c.drawImage(image, x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
  }

  painted(level, entry) {
    const look = JSON.stringify(this.look);
    if (entry.look !== look) {
      entry.painted ??= new OffscreenCanvas(entry.block.width, entry.block.height);
      entry.painted.getContext("2d").putImageData(this.display.paint(level.file, entry.block, this.look), 0, 0);
      entry.look = look;
    }
    return entry.painted;
  }

  drawMissing({ x0, y0, x1, y1, level }) {
    const c = this.context;
    c.save();
    c.beginPath();
    c.rect(x0, y0, x1 - x0, y1 - y0);
    c.clip();
    c.strokeStyle = this.colors.line;
    c.lineWidth = 1;
    c.beginPath();
    const step = 12 * this.ratio, from = Math.max(x0 - (y1 - y0), -this.canvas.height), to = Math.min(x1, this.canvas.width);
    for (let x = from - (from - x0) % step; x < to; x += step) {
      c.moveTo(x, y1);
      c.lineTo(x + (y1 - y0), y0);
    }
    c.stroke();
    c.fillStyle = this.colors.line;
    c.font = `${13 * this.ratio}px system-ui, sans-serif`;
    c.fillText(`level ${level.number} is not in this page`, x0 + step, y0 + 2 * step);
    c.restore();
  }
}

// Draws lines, borders and sizes over the tiles of one level.
class Overlay {
  constructor(stage, view) {
    Object.assign(this, { stage, view, level: view.level, c: stage.context, file: view.level.file });
    this.tileX = this.file.tileWidth * view.sx;
    this.tileY = this.file.tileHeight * view.sy;
  }

  draw() {
    const on = this.stage.overlays;
    if (on.has("bytes") && this.level.tileBytes) this.eachTile((x, y) => this.heat(x, y));
    if (on.has("borders") && this.view.sx * BORDER_PX >= 1) this.eachTile((x, y) => this.border(x, y, 0.5));
    if (on.has("tiles") && Math.min(this.tileX, this.tileY) >= 8) this.lines();
    this.eachTile((x, y) => this.damage(x, y));
    const under = this.stage.under(this.stage.hover);
    if (under?.level === this.level && under.place.wanted === this.view.place.wanted) this.mark(under.tile);
  }

  eachTile(use) {
    const { canvas } = this.stage, { x0, y0 } = this.view, { level, tileX, tileY } = this;
    const first = (origin, size, count) => Math.min(count, Math.max(0, Math.floor(-origin / size)));
    for (let y = first(y0, tileY, level.tilesY); y < level.tilesY && y0 + y * tileY < canvas.height; y++)
      for (let x = first(x0, tileX, level.tilesX); x < level.tilesX && x0 + x * tileX < canvas.width; x++) use(x, y);
  }

  // Edges of a tile in device pixels, `grow` pixels of the level further out.
  edges(x, y, grow = 0) {
    const { X, Y } = this.view, f = this.file;
    return [X(x * f.tileWidth - grow), Y(y * f.tileHeight - grow),
            X(Math.min(this.level.width, (x + 1) * f.tileWidth) + grow),
            Y(Math.min(this.level.height, (y + 1) * f.tileHeight) + grow)];
  }

  lines() {
    const { c, view, level, file } = this;
    c.fillStyle = this.stage.colors.line;
    for (let x = 0; x <= level.tilesX; x++)
      c.fillRect(view.X(Math.min(level.width, x * file.tileWidth)), view.y0, 1, view.y1 - view.y0 + 1);
    for (let y = 0; y <= level.tilesY; y++)
      c.fillRect(view.x0, view.Y(Math.min(level.height, y * file.tileHeight)), view.x1 - view.x0 + 1, 1);
  }

  // The band around a tile that its border covers: pixels of the neighbours and, beyond the level's edge, of the opposite side.
  border(x, y, alpha) {
    const { c } = this, [x0, y0, x1, y1] = this.edges(x, y), [ox0, oy0, ox1, oy1] = this.edges(x, y, BORDER_PX);
    c.globalAlpha = alpha;
    c.fillStyle = this.stage.colors.border;
    c.fillRect(ox0, oy0, ox1 - ox0, y0 - oy0);
    c.fillRect(ox0, y1, ox1 - ox0, oy1 - y1);
    c.fillRect(ox0, y0, x0 - ox0, y1 - y0);
    c.fillRect(x1, y0, ox1 - x1, y1 - y0);
    c.globalAlpha = 1;
  }

  // From cool to hot by bytes per pixel, relative to the largest; tiles of a single colour are not tinted.
  heat(x, y) {
    const { c, level } = this, n = y * level.tilesX + x, [x0, y0, x1, y1] = this.edges(x, y);
    if (level.constant.has(n)) return;
    const share = level.tileBytes[n] / (level.largestTile || 1);
    c.fillStyle = `hsl(${220 - 220 * share} 90% 50% / 0.55)`;
    c.fillRect(x0, y0, x1 - x0, y1 - y0);
  }

  damage(x, y) {
    if (!this.level.damaged.has(y * this.level.tilesX + x)) return;
    const { c } = this, [x0, y0, x1, y1] = this.edges(x, y);
    c.strokeStyle = this.stage.colors.hot;
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.moveTo(x1, y0);
    c.lineTo(x0, y1);
    c.stroke();
  }

  mark(tile) {
    const { c } = this, [x0, y0, x1, y1] = this.edges(tile.x, tile.y);
    if (this.stage.overlays.has("borders") && this.view.sx * BORDER_PX >= 1) this.border(tile.x, tile.y, 0.9);
    c.strokeStyle = this.stage.colors.hot;
    c.lineWidth = 2 * Math.max(1, Math.round(this.stage.ratio));
    c.strokeRect(x0, y0, x1 - x0, y1 - y0);
  }
}
