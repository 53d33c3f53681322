// SPDX-License-Identifier: Apache-2.0
// The index of several files: a card for each, with a picture of the smallest level that is large enough.

const THUMBNAIL_PX = 192;

async function drawThumbnail(canvas, file, display) {
  const level = file.levels.findLast(l => l.embedded && Math.max(l.width, l.height) >= THUMBNAIL_PX)
    ?? file.levels.find(l => l.embedded);
  if (!level) return;
  const scale = Math.min(THUMBNAIL_PX / level.width, THUMBNAIL_PX / level.height);
  canvas.width = Math.max(1, Math.round(level.width * scale));
  canvas.height = Math.max(1, Math.round(level.height * scale));
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = scale < 1;
  context.imageSmoothingQuality = "high";
  for (let y = 0; y < level.blocksY; y++)
    for (let x = 0; x < level.blocksX; x++) {
      const block = await level.decode(x, y), painted = new OffscreenCanvas(block.width, block.height);
      painted.getContext("2d").putImageData(display.paint(file, block, { channel: "color", exposure: 0, ground: "checker" }), 0, 0);
      context.drawImage(painted, block.left * scale, block.top * scale, block.width * scale, block.height * scale);
    }
}

function card(file, display, open) {
  if (file.error)
    return el("li", { className: "card broken" }, el("div", { className: "thumb" }, "cannot be read"),
              el("strong", { title: file.path }, file.name), el("p", { className: "quiet" }, file.error.message));
  const i = file.info, canvas = el("canvas");
  const button = el("button", { className: "open", title: file.path }, el("div", { className: "thumb" }, canvas),
                    el("strong", {}, file.name),
                    el("span", { className: "quiet" }, `${i.width} × ${i.height}  ${i.data_type}  ${formatBytes(i.file_bytes)}`),
                    el("span", { className: "quiet space" }, spaceOf(i)), badges(i, true));
  button.addEventListener("click", () => open(file.number));
  // Thumbnails are decoded when they become visible.
  new IntersectionObserver((entries, observer) => {
    if (!entries.some(e => e.isIntersecting)) return;
    observer.disconnect();
    drawThumbnail(canvas, file, display).then(() => { canvas.dataset.drawn = "yes"; },
                                             error => { console.error(`${file.name}: ${error}`); });
  }).observe(button);
  return el("li", { className: "card" }, button);
}

function fillIndex(files, display, open) {
  const cards = files.map(file => [file, card(file, display, open)]);
  document.getElementById("cards").replaceChildren(...cards.map(([, c]) => c));
  const bytes = files.reduce((sum, f) => sum + (f.info.file_bytes ?? 0), 0);
  document.getElementById("index-count").textContent = `${files.length} files, ${formatBytes(bytes)}`;
  document.getElementById("filter").addEventListener("input", event => {
    const wanted = event.target.value.toLowerCase();
    for (const [file, c] of cards) c.hidden = !file.path.toLowerCase().includes(wanted);
  });
}
