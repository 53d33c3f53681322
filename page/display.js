// SPDX-License-Identifier: Apache-2.0
// Converts samples to 8 bits for the screen, as `txmill extract` does: scene-linear values with the sRGB curve, encoded
// values and data unchanged. Exposure scales light, so encoded values are decoded for it and encoded again.

const encodeCurve = v => v < 0.0031308 ? Math.max(0, 12.92 * v) : 1.055 * v ** (1 / 2.4) - 0.055;
const decodeCurve = v => v < 0.04045 ? Math.max(0, v / 12.92) : ((v + 0.055) / 1.055) ** 2.4;
const toCode = v => v > 0 ? Math.min(255, Math.floor(v * 255 + 0.5)) : 0; // NaN is 0

class Display {
  constructor(thresholds) {
    // thresholds[n] is the smallest float32 that is shown as n + 1, so that the curve does not depend on Math.pow.
    this.thresholds = Float32Array.from(thresholds);
  }

  encode(v) {
    const t = this.thresholds;
    let low = 0, high = t.length; // codes below low are reached, those above high are not
    while (low < high) {
      const middle = low + high >> 1;
      if (v >= t[middle]) low = middle + 1; else high = middle;
    }
    return low;
  }

  // A function that converts values of one kind to codes with an exposure.
  curve(values, exposure) {
    const gain = 2 ** exposure;
    if (values === "linear")
      return gain === 1 ? v => this.encode(v) : v => this.encode(v * gain);
    if (gain === 1) return toCode;
    return values === "data" ? v => toCode(v * gain) : v => toCode(encodeCurve(decodeCurve(v) * gain));
  }

  // The same for samples; with a table if there are few possible values.
  codes(type, values, exposure) {
    const curve = this.curve(values, exposure), value = sampleValue[type];
    if (type === "float") return v => curve(value(v));
    const table = new Uint8Array(type === "uint8" ? 256 : 65536);
    for (let v = 0; v < table.length; v++) table[v] = curve(value(v));
    return v => table[v];
  }

  // Paints samples into RGBA for a canvas. `look`: channel ("color" or a number), exposure, ground.
  paint(file, block, look) {
    const { samples, width, height } = block, out = new ImageData(width, height), to = out.data;
    const n = file.channels, alpha = n === 2 ? 1 : n === 4 ? 3 : -1, value = sampleValue[file.type];
    const code = this.codes(file.type, file.values, look.exposure);
    const single = look.channel !== "color", channel = single ? look.channel : 0;
    const ground = (x, y) => look.ground === "white" ? 255 : look.ground === "black" ? 0 : (x ^ y) & 8 ? 96 : 64;
    // Colour is associated, so with alpha between 0 and 1 it is divided by alpha before the curve is applied.
    const divides = file.values === "linear" && n === 4;
    const gain = 2 ** look.exposure;
    for (let y = 0, i = 0, o = 0; y < height; y++)
      for (let x = 0; x < width; x++, i += n, o += 4) {
        to[o + 3] = 255;
        if (single) {
          to[o] = to[o + 1] = to[o + 2] = channel === alpha ? toCode(value(samples[i + channel])) : code(samples[i + channel]);
          continue;
        }
        const a = alpha < 0 ? 1 : value(samples[i + alpha]);
        const behind = a < 1 ? (1 - Math.max(0, a)) * ground(x, y) : 0;
        for (let c = 0; c < 3; c++) {
          const sample = samples[i + (n < 3 ? 0 : c)];
          let v = divides && a > 0 && a !== 1 ? toCode(encodeCurve(value(sample) / a * gain) * a) : code(sample);
          to[o + c] = Math.min(255, Math.round(v + behind));
        }
      }
    return out;
  }
}
