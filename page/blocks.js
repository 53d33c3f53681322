// SPDX-License-Identifier: Apache-2.0
// Decodes samples from the text in the page, in the format that tools/view/view_blocks.h describes.

const SAMPLE_ARRAYS = { uint8: Uint8Array, uint16: Uint16Array, half: Uint16Array, float: Uint32Array };

async function inflate(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function predict(a, b, c) {
  const low = Math.min(a, b), high = Math.max(a, b);
  return c >= high ? low : c <= low ? high : a + b - c;
}

// Converts residual bytes to samples, channels interleaved. Typed arrays store numbers modulo 2^bits.
function restore(residuals, width, height, channels, type) {
  const samples = new SAMPLE_ARRAYS[type](width * height * channels);
  const bytes = samples.BYTES_PER_ELEMENT, plane = width * height, stride = width * channels;
  for (let channel = 0; channel < channels; channel++) {
    const from = channel * bytes * plane;
    for (let y = 0, n = 0; y < height; y++)
      for (let x = 0; x < width; x++, n++) {
        const at = y * stride + x * channels + channel;
        const a = x ? samples[at - channels] : 0, b = y ? samples[at - stride] : 0;
        let value = !y ? a : !x ? b : predict(a, b, samples[at - stride - channels]);
        for (let k = 0, scale = 1; k < bytes; k++, scale *= 256)
          value += residuals[from + k * plane + n] * scale;
        samples[at] = value;
      }
  }
  return samples;
}

const halfValues = new Float32Array(65536);
for (let bits = 0; bits < 65536; bits++) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, mantissa = bits & 1023;
  halfValues[bits] = sign * (exponent === 31 ? (mantissa ? NaN : Infinity)
    : exponent ? (1 + mantissa / 1024) * 2 ** (exponent - 15) : mantissa * 2 ** -24);
}

const floatBits = new Uint32Array(1), floatValue = new Float32Array(floatBits.buffer);

// A sample as a number; integers are divided by their maximum.
const sampleValue = {
  uint8: v => Math.fround(v * Math.fround(1 / 255)),
  uint16: v => Math.fround(v * Math.fround(1 / 65535)),
  half: v => halfValues[v],
  float: v => (floatBits[0] = v, floatValue[0]),
};
