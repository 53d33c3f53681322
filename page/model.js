// SPDX-License-Identifier: Apache-2.0
// The files of the page: their data, levels, and blocks of pixels, which are decoded when they are needed.

// The most recently used decoded blocks are kept, up to this many bytes; 4096 x 4096 pixels of 8-bit RGBA fit.
const KEPT_BYTES = 192 * 2 ** 20;

class Level {
  constructor(file, number) {
    const info = file.info.levels[number], tiles = file.info.tiles?.levels[number];
    Object.assign(this, { file, number, width: info.width, height: info.height, tilesX: info.tiles_x,
                          tilesY: info.tiles_y, bytes: info.stored_bytes, pixelBytes: info.pixel_bytes });
    this.embedded = file.info.embedded.includes(number);
    this.tileBytes = tiles?.tile_bytes;
    this.constant = new Set(tiles?.tile_constant);
    this.damaged = new Set(tiles?.tile_damaged);
    this.largestTile = tiles?.largest ?? 0;
    this.blocksX = Math.ceil(this.width / file.blockWidth);
    this.blocksY = Math.ceil(this.height / file.blockHeight);
  }

  get texts() {
    return this.cut ??= document.getElementById(`pixels-${this.file.number}-${this.number}`).textContent.split(" ");
  }

  async decode(x, y) {
    const f = this.file, left = x * f.blockWidth, top = y * f.blockHeight;
    const width = Math.min(f.blockWidth, this.width - left), height = Math.min(f.blockHeight, this.height - top);
    const residuals = await inflate(this.texts[y * this.blocksX + x]);
    return { left, top, width, height, samples: restore(residuals, width, height, f.channels, f.type) };
  }

  tileAt(x, y) {
    const tx = Math.floor(x / this.file.tileWidth), ty = Math.floor(y / this.file.tileHeight);
    return { x: tx, y: ty, number: ty * this.tilesX + tx };
  }
}

class TxFile {
  constructor(info, number) {
    const base = info.file.split("/").pop();
    // The name of a file in a cache is shown without its digest.
    Object.assign(this, { info, number, path: info.file, name: info.name?.source ?? base,
                          suffix: info.name ? base.slice(info.name.source.length) : "", error: info.error });
    if (this.error) return;
    Object.assign(this, { width: info.width, height: info.height, channels: info.channels, type: info.data_type,
                          values: info.values, tileWidth: info.tile_width, tileHeight: info.tile_height,
                          blockWidth: info.block_width, blockHeight: info.block_height });
    this.levels = info.levels.map((_, n) => new Level(this, n));
  }

  // The nearest level with pixels in the page that is not finer; else the finest with pixels; else none.
  shown(number) {
    return this.levels.slice(number).find(l => l.embedded) ?? this.levels.findLast(l => l.embedded);
  }
}

// Blocks by name, decoded or being decoded; the most recently used one is at the end.
class Blocks {
  constructor(arrived) {
    this.arrived = arrived;
    this.kept = new Map();
    this.bytes = 0;
    this.pending = 0;
    this.frame = 0; // incremented by the stage for each frame
  }

  get(level, x, y) {
    const key = `${level.file.number}/${level.number}/${x},${y}`;
    let entry = this.kept.get(key);
    if (entry) {
      this.kept.delete(key);
    } else {
      entry = { block: null, painted: null, look: "" };
      this.load(entry, level, x, y);
    }
    entry.frame = this.frame;
    this.kept.set(key, entry);
    return entry;
  }

  async load(entry, level, x, y) {
    this.pending++;
    try {
      entry.block = await level.decode(x, y);
      this.bytes += this.cost(entry);
      this.trim();
    } catch (error) {
      entry.failed = true;
      console.error(`level ${level.number}, block ${x},${y}: ${error}`);
    }
    this.pending--;
    this.arrived();
  }

  cost(entry) {
    return entry.block ? entry.block.samples.byteLength + 4 * entry.block.width * entry.block.height : 0;
  }

  // Visible blocks are kept even beyond the limit, because otherwise they would be decoded again for every frame.
  trim() {
    for (const [key, entry] of this.kept) {
      if (this.bytes <= KEPT_BYTES) return;
      if (!entry.block || entry.frame === this.frame) continue;
      this.bytes -= this.cost(entry);
      this.kept.delete(key);
    }
  }
}
