// SPDX-License-Identifier: Apache-2.0
// The pages of `txmill stream`: a render, a budget, frames that were played. The figures are those that --json prints.

function figure({ id, caption }) {
  return el("figure", {}, picture(id), el("figcaption", {}, caption));
}

const figuresOf = (data, place) => data.pictures.filter(p => p.place === place).map(figure);

function showStream(data, verdict, ...sections) {
  documentOf(data.title, el("h1", {}, data.title), ...verdict.map((words, n) => el("p", { className: n ? "" : "verdict" }, words)),
             ...sections.filter(Boolean));
}

// ---- a render ----

function summary(r) {
  const rows = [["Picture", `${r.width} x ${r.height} px, ${count(r.samples, "sample")}, ${count(r.bounces, "bounce")}`],
                ["Time", formatSeconds(r.seconds)], ["Waiting for tiles", formatSeconds(r.load_seconds)],
                ["Steps run again", `${r.counts.relaunches} of ${r.counts.steps}`],
                ["Peak of tiles in memory", formatBytes(r.peak_bytes)],
                ["Tiles loaded", `${r.tiles_loaded}, ${r.tiles_reloaded} of them again`]];
  return el("dl", { className: "facts" }, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

// A render without a cache has no memory over time.
function memoryOverTime({ memory: moments }) {
  if (!moments.length) return null;
  const most = Math.max(1, ...moments.map(m => m.allocated_bytes)), end = Math.max(1e-9, ...moments.map(m => m.seconds));
  const curve = (name, member, color, dashes) => ({ name, color, dashes, points: moments.map(m => ({ at: m.seconds / end, value: m[member] })),
                                                    about: `${name}: at most ${formatBytes(Math.max(...moments.map(m => m[member])))}` });
  return section("memory", "Memory over time", chart({
    title: "Memory of textures over time", most, yText: formatBytes, xTexts: [0, 1, 2, 3, 4].map(i => formatSeconds(end * i / 4)),
    curves: [curve("tiles", "tile_bytes", "#0072b2", "none"), curve("with tables and free room", "allocated_bytes", "#d55e00", "7 3")] }));
}

// The plot is the one of `txmill replay --plot`.
function otherCaches({ replay }) {
  return replay && section("caches", "Other caches", el("figure", {},
    new DOMParser().parseFromString(replay.plot, "text/html").querySelector("svg"), el("figcaption", {}, replay.verdict)));
}

function costs({ images }) {
  return section("textures", "Textures", table(["Image", "#Size", "#Used", "#Of", "Tiles of each level", "#Loads", "#Again", "#Time in loading", "Failed"],
    images.map(i => [path(i.image), number(i.width * i.height, `${i.width} x ${i.height}`), bytes(i.used_bytes), bytes(i.virtual_bytes),
                     i.levels.map(l => `${l.used}/${l.tiles}`).join(", "), number(i.loads), number(i.reloads), seconds(i.load_seconds),
                     i.failures ? `${i.failures}: ${i.failure}` : "0"])));
}

function showRender(data) {
  const r = data.report, tiles = figuresOf(data, "tiles");
  showStream(data, [], ...figuresOf(data, "picture"), summary(r),
             section("maps", "Maps", el("div", { className: "maps" }, ...figuresOf(data, "maps"))), memoryOverTime(r), otherCaches(data), costs(r),
             tiles.length && section("tiles", "Tiles of each texture",
               el("p", {}, "The finest level that was used at each place: white is level 0, dark blue level 6 and coarser, black none."),
               el("div", { className: "tiles" }, ...tiles)));
}

// ---- a budget ----

// Textures by memory, the largest first, with what each would save at half its width and height.
function byMemory({ images }) {
  return images.map(i => ({ ...i, saved: Math.max(0, i.resolutions[0].used_bytes - i.resolutions[1].used_bytes) }))
    .sort((a, b) => b.used_bytes - a.used_bytes);
}

function budgetVerdict(b, textures, tiled) {
  if (!b.tiles) return "This picture uses no texture.";
  const best = textures.reduce((most, t) => t.saved > (most?.saved ?? 0) ? t : most, null);
  return `This picture needs ${formatBytes(b.resolutions[0].peak_bytes)} of texture memory at once`
    + (tiled ? ` with render tiles of ${b.render_tiles[1].px} px` : "")
    + `, and ${formatBytes(b.touched_bytes)} in all: ${percentOf(b.touched_bytes, b.all_bytes)} of the ${formatBytes(b.all_bytes)} that whole images take.`
    + (best ? ` The largest saving is to halve ${best.image}: ${formatBytes(best.saved)} (${percentOf(best.saved, b.touched_bytes)}).` : "");
}

// What the figures do not include.
function sureness(b) {
  return `${b.width} x ${b.height} px, ${count(b.samples, "sample")} a pixel; ${count(b.tiles, "tile")} found.`
    + (b.growth === null && b.scene_samples !== 1 ? " One sample does not show how many tiles further ones would find." : "")
    + (b.missing_tiles ? ` Further samples are expected to find about ${count(b.missing_tiles, "tile")} more (${formatBytes(b.missing_bytes)}).` : "")
    + (b.world_map ? ` Before the first ray, Cycles loads another ${formatBytes(b.world_map.extra_bytes)} of the world's image to sample its light.` : "");
}

function showBudget(data) {
  const b = data.report, textures = byMemory(b), most = textures[0]?.used_bytes;
  showStream(data, [budgetVerdict(b, textures, data.render_tile > 0), sureness(b)],
    textures.length && section("textures", "Textures",
      el("p", {}, "The largest first. The light part of a bar is what the texture would save at half its width and height."),
      table(["Image", "#Size", "#Used", "#Of", "", "#Saved by halving it"], textures.map(t => [
        path(t.image), number(t.width * t.height, `${t.width} x ${t.height}`), bytes(t.used_bytes), bytes(t.virtual_bytes),
        bar(share(t.used_bytes - t.saved, most), "", share(t.used_bytes, most)),
        number(t.saved, `${formatBytes(t.saved)} (${percentOf(t.saved, t.used_bytes)})`)]))),
    section("render-tiles", "Render tiles", table(["Render tile", "#At once", "#Loaded"],
      b.render_tiles.map(t => [t.px ? `${t.px} px` : "none", bytes(t.peak_bytes), bytes(t.loaded_bytes)]), { sortable: false })),
    section("resolutions", "All textures at a lower resolution", table(["Resolution", "#At once", "#Used"],
      b.resolutions.map(r => [`${digits(100 * r.resolution, 4)} %`, bytes(r.peak_bytes), bytes(r.used_bytes)]), { sortable: false })));
}

// ---- frames that were played ----

const MOST_POINTS = 600;
const sharpness = f => f.texels ? 100 * f.sharp / f.texels : 100;
const PLOTS = [
  ["Time of a frame", "ms", [["time", "#0072b2", "none", f => f.ms]]],
  ["Sharpness: texels in memory", "%", [["sharp", "#009e73", "none", sharpness]], 100],
  ["Requests", "requests", [["requested", "#d55e00", "none", f => f.requested], ["accepted", "#0072b2", "7 3", f => f.accepted],
                            ["unique", "#009e73", "2 3", f => f.unique]]],
  ["Tiles", "tiles", [["loaded", "#0072b2", "none", f => f.loaded], ["evicted", "#d55e00", "7 3", f => f.evicted],
                      ["shown", "#009e73", "2 3", f => f.shown]]],
  ["Memory of tiles", "MB", [["memory", "#cc79a7", "none", f => 1e-6 * f.resident_bytes]]],
];

// With many frames, each point shows the largest value of several, so that no peak is lost.
function pointsOf(values) {
  const points = Math.min(values.length, MOST_POINTS), most = (a, b) => Math.max(a, b);
  return Array.from({ length: points }, (_, i) => ({ at: points > 1 ? i / (points - 1) : 0.5,
    value: values.slice(Math.floor(i * values.length / points), Math.max(Math.floor(i * values.length / points) + 1,
                                                                        Math.floor((i + 1) * values.length / points))).reduce(most) }));
}

function plotOf(frames, [title, unit, curves, end]) {
  const most = (values) => values.reduce((a, b) => Math.max(a, b), 0);
  const drawn = curves.map(([name, color, dashes, value]) => ({ name, color, dashes, values: frames.map(value) }));
  return section(null, title, chart({
    title: `${title} over frames`, unit, most: end ?? (Math.max(...drawn.map(c => most(c.values))) || 1), yText: v => digits(v, 4),
    xTexts: ["0", `frame ${frames.length - 1}`],
    curves: drawn.map(c => ({ ...c, points: pointsOf(c.values),
      about: `${c.name}: ${digits(c.values.reduce((a, b) => a + b) / frames.length, 4)} on average, at most ${digits(most(c.values), 4)}` })) }));
}

function playVerdict(p) {
  const t = p.totals, until = (what, n) => n === null ? "" : ` ${what} after ${n}.`;
  return `${count(t.frames, "frame")}${p.stopped ? ", then it was stopped," : ""} of ${(t.ms / t.frames).toFixed(2)} ms on average; `
    + `the longest took ${(t.median_ms > 0 ? t.longest_ms / t.median_ms : 1).toFixed(2)} times the median.`
    + (p.options.texturing !== "streamed" ? "" : " Since the last cut:" + until("half of the texels were in memory", t.frames_until_half)
       + until("95 % were in memory", t.frames_until_most) + until("all were in memory", t.frames_until_all)
       + (t.frames_until_half === null ? " half of the texels were never in memory." : ""));
}

function showPlay(data) {
  const p = data.report, t = p.totals, o = p.options;
  if (!p.frames.length) return showStream(data, ["It was stopped before the first frame was complete."]);
  showStream(data, [playVerdict(p),
    `${p.width} x ${p.height} px, ${count(p.samples, "sample")} a frame, time ${o.virtual ? "by costs" : "measured"}; a list of ${o.requests} requests, waves of ${o.wave} lanes; `
      + `${t.loaded} tiles loaded, ${t.reloaded} of them again, ${t.evicted} evicted, ${t.load_failures} could not be read.`],
    ...figuresOf(data, "picture"), ...PLOTS.map(plot => plotOf(p.frames, plot)));
}
