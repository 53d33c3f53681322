// SPDX-License-Identifier: Apache-2.0
// The panel beside the texture shows the contents of the file in words, figures and plots.

const formatCount = n => n.toLocaleString("en").replaceAll(",", "\u202f");
const formatValue = v => v === null ? "–" : Number.isFinite(v) ? `${+v.toPrecision(5)}` : `${v}`;
const channelNames = n => [["Y"], ["Y", "A"], ["R", "G", "B"], ["R", "G", "B", "A"]][n - 1];

function badge(kind, text) {
  return el("span", { className: `badge ${kind}` }, text);
}

// With `concerns` only problems are listed, for the index of many files.
function badges(info, concerns = false) {
  const source = [{ fresh: "good", outdated: "bad", missing: "warn" }[info.source.state] ?? "quiet", `source ${info.source.state}`];
  const section = { valid: ["good", "borders"], none: ["quiet", "no borders"], newer: ["warn", "borders of a newer version"],
                    stale: ["bad", "borders of another image"], damaged: ["bad", "borders damaged"] }[info.border_section.state];
  const { accepted, shows, reason } = info.cycles;
  const cycles = [accepted ? "good" : "bad", `Cycles ${shows}${accepted || !reason ? "" : `: ${reason}`}`];
  const damaged = info.tiles?.levels.reduce((n, l) => n + l.damaged, 0);
  const tiles = damaged ? [["bad", `${damaged} damaged tile${damaged > 1 ? "s" : ""}`]] : [];
  const told = [...tiles, cycles, source, section].filter(([kind]) => !concerns || kind === "bad" || kind === "warn");
  return el("p", { className: "badges" }, ...told.map(b => badge(...b)));
}

// Scene-linear averages are encoded to look like the texture; associated colour appears on black.
function averageColor(file, display) {
  const a = file.info.average;
  if (!a) return null;
  const code = display.curve(file.values, 0), rgb = (a.length < 3 ? [a[0], a[0], a[0]] : a.slice(0, 3)).map(code);
  const swatch = el("span", { className: "chip" });
  swatch.style.background = `rgb(${rgb.join(" ")})`;
  return el("span", {}, swatch, a.map(formatValue).join("  "));
}

const spaceOf = info => info.colorspace.requested ?? info.colorspace.detected ?? "colour space unknown";

// The same words as in `txmill info`: txmill's files name Blender, because readers look for this.
const makerOf = info => info.made_by === "txmill" ? `txmill, in the format of ${info.software}` : info.software;

function facts(file, display) {
  const i = file.info, names = { 1: "grey", 2: "grey+alpha", 3: "RGB", 4: "RGBA" };
  const rows = [
    ["Image", `${i.width} × ${i.height} px, ${i.levels.length} levels`],
    ["Pixels", `${i.data_type} ${names[i.channels]}, ${file.values === "linear" ? "scene-linear" : file.values}`],
    ["Tiles", `${i.tile_width} × ${i.tile_height} px, ${i.compression}`],
    ["File", `${i.container.toUpperCase()}, ${formatBytes(i.file_bytes)}`],
    ["Borders", i.border_section.state === "none" ? "none" : `${formatBytes(i.border_section.bytes)}, ${i.border_section.state}`],
    ["Colour space", spaceOf(i)],
    ["Working space", i.colorspace.working_space],
    ["Alpha", i.alpha],
    ["Average", averageColor(file, display)],
    ["One colour", i.constant?.map(formatValue).join("  ")],
    ["Source", i.source.path],
    ["Its date", i.source.date],
    ["Made by", makerOf(i)],
    ["For Blender", i.made_for],
    ["SHA-1", i.sha1],
  ];
  return el("dl", { className: "facts" }, ...rows.filter(r => r[1]).flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]));
}

// A bar per level on a logarithmic scale: regular levels decrease evenly, and exceptions are visible.
function levelPlot(file, choose) {
  const low = Math.log2(16), high = Math.log2(Math.max(32, ...file.levels.map(l => Math.max(l.pixelBytes, l.bytes))));
  const share = bytes => `${Math.max(1, 100 * (Math.log2(Math.max(16, bytes)) - low) / (high - low))}%`;
  const rows = file.levels.map(level => {
    const raw = el("span", { className: "bar raw" }), stored = el("span", { className: "bar stored" });
    raw.style.width = share(level.pixelBytes);
    stored.style.width = share(level.bytes);
    const row = el("button", { className: "level", title: `${formatBytes(level.bytes)} stored of ${formatBytes(level.pixelBytes)} of pixels` },
                   el("span", { className: "number" }, `L${level.number}`),
                   el("span", { className: "size" }, `${level.width} × ${level.height}`),
                   el("span", { className: "bars" }, raw, stored),
                   el("span", { className: "bytes" }, formatBytes(level.bytes)));
    row.dataset.level = level.number;
    row.classList.toggle("absent", !level.embedded);
    row.addEventListener("click", () => choose(level.number));
    return row;
  });
  return el("section", {}, el("h2", {}, "Levels"), el("div", { className: "plot" }, ...rows),
            el("p", { className: "quiet" }, "Stored bytes compared with bytes of pixels, logarithmic."));
}

function statistics(file) {
  const names = channelNames(file.channels);
  const rows = file.info.statistics.map((s, n) =>
    el("tr", {}, el("th", { scope: "row" }, names[n]), ...["min", "mean", "max"].map(k => el("td", {}, formatValue(s[k])))));
  const odd = file.info.statistics.reduce((sum, s) => sum + s.not_finite, 0);
  return el("section", {}, el("h2", {}, "Level 0"),
            el("table", {}, el("thead", {}, el("tr", {}, ...["", "min", "mean", "max"].map(h => el("th", {}, h)))),
               el("tbody", {}, ...rows)),
            odd ? el("p", { className: "quiet" }, `${formatCount(odd)} samples are not finite numbers.`) : null);
}

function tileHistogram(file) {
  const tiles = file.info.tiles;
  if (!tiles) return el("section", {}, el("h2", {}, "Tiles"), el("p", { className: "quiet" }, "There are too many tiles to list here; use txmill info --tiles."));
  const most = Math.max(1, ...tiles.histogram.map(h => h.tiles)), sum = key => tiles.levels.reduce((n, l) => n + l[key], 0);
  const rows = tiles.histogram.map(h => {
    const all = el("span", { className: "bar raw" }), constant = el("span", { className: "bar stored" });
    all.style.width = `${100 * h.tiles / most}%`;
    constant.style.width = `${100 * h.constant / most}%`;
    return el("div", { className: "class", title: `${h.tiles} tiles, ${h.constant} of one colour` },
              el("span", { className: "size" }, `${formatCount(h.from)} – ${formatCount(h.to)} B`),
              el("span", { className: "bars" }, all, constant), el("span", { className: "bytes" }, formatCount(h.tiles)));
  });
  const damaged = sum("damaged");
  return el("section", {}, el("h2", {}, "Tiles by size"), el("div", { className: "plot" }, ...rows),
            el("p", { className: "quiet" }, `${formatCount(sum("tiles"))} tiles, ${formatCount(sum("constant"))} of one colour`
               + (damaged ? `, ${formatCount(damaged)} damaged.` : ".")));
}

function metadata(file) {
  return el("details", {}, el("summary", {}, `Metadata (${file.info.metadata.length})`),
            el("dl", { className: "facts all" }, ...file.info.metadata.flatMap(m => [el("dt", {}, m.name), el("dd", {}, m.value)])));
}

// The levels that are not in the page, and how to make a page that has them.
function leftOut(file, pageBytes) {
  const absent = file.levels.filter(l => !l.embedded);
  if (!absent.length) return null;
  const names = absent.map(l => `${l.number} (${l.width} × ${l.height})`).join(", ");
  return el("p", { className: "note", id: "left-out" },
            `Not in this page, to keep it small: the pixels of level${absent.length > 1 ? "s" : ""} ${names}. `,
            `The page may have ${formatBytes(pageBytes)} of pixels; `, el("code", {}, "txmill view --page-size"), " sets this limit.");
}

function heading(file) {
  return el("header", { title: file.path }, el("h1", {}, file.name),
            file.suffix ? el("p", { className: "suffix quiet" }, file.suffix) : null);
}

function fillPanel(panel, file, display, pageBytes, choose) {
  panel.replaceChildren(
    ...[heading(file), badges(file.info), leftOut(file, pageBytes), levelPlot(file, choose),
        facts(file, display), statistics(file), tileHistogram(file), metadata(file)].filter(Boolean));
  panel.scrollTop = 0;
}

// The line below the texture shows the pixel under the pointer.
function describePoint(file, under) {
  if (!under) return [el("span", { className: "quiet" }, "Move the pointer over the texture to see level, tile and values.")];
  const { level, tile, samples, x, y } = under, names = channelNames(file.channels);
  const parts = [["level", level.number], ["pixel", `${x}, ${y}`], ["tile", `${tile.x}, ${tile.y}`]];
  if (level.tileBytes) {
    const word = level.damaged.has(tile.number) ? ", damaged" : level.constant.has(tile.number) ? ", one colour" : "";
    parts.push(["stored", formatBytes(level.tileBytes[tile.number]) + word]);
  }
  const integers = file.type.startsWith("uint");
  for (const [n, sample] of (samples ?? []).entries()) {
    const value = sampleValue[file.type](sample);
    parts.push([names[n], integers ? `${sample} (${value.toFixed(3)})` : formatValue(value)]);
  }
  return parts.map(([name, value]) => el("span", {}, el("b", {}, name), ` ${value}`));
}
