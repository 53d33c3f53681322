// SPDX-License-Identifier: Apache-2.0
// The page of `txmill report`: what --json prints, and lists of the images, runs and pixels that the sums are of. The result
// and what is wrong come first, then figures, and at the end what could be better.

// Rows of failures, and of the levels in the table of memory.
const MOST_ROWS = 1000, LEVELS = 6;

const STAGES = { decode: "reading and decoding", conform: "arranging channels", color: "colour conversion", pyramid: "levels",
                 hash: "digests", encode: "compressing tiles", borders: "border section", write: "writing" };

const kindOf = reason => reason.retryable ? "temporary" : "permanent";

function headline(r, failed, done, broken) {
  if (failed) return [true, `${failed} of ${count(r.images, "image")} failed`];
  if (r.verdict === "nothing-done") return [true, "No image was converted"];
  if (broken) return [false, `${are(done, "image")} done.`];
  if (r.shards_missing) return [true, `${r.shards_missing} of ${are(r.shards, "shard")} missing`];
  if (r.unfinished) return [true, `${are(done, "image")} done; the last run did not end by itself`];
  if (r.would_create) return [true, `${are(r.would_create, "image")} still to be made`];
  return [true, done === 1 ? "The image is done" : `All ${done} images are done`];
}

function verdictOf(r) {
  const failed = r.failed, done = r.images - failed, text = t => el("p", {}, t);
  const broken = r.broken_runs && (r.run_error !== null || !failed), [strong, words] = headline(r, failed, done, broken);
  const color = { failed: " bad", "nothing-done": " bad", open: " warn" }[r.verdict] ?? "";
  const out = el("section", { id: "verdict", className: `verdict${color}` });
  if (broken)
    out.append(el("p", {}, el("strong", {}, r.broken_runs === 1 ? "A run failed" : "Runs failed")), r.run_error === null ? "" : text(r.run_error));
  out.append(el("p", {}, strong ? el("strong", {}, words) : words));
  if (r.verdict === "nothing-done") out.append(text("The logs contain no images."));
  if (failed)
    out.append(text(`${failed - r.retryable} permanent, ${r.retryable} temporary${r.retryable ? ", which a retry may cure" : ""}; ${are(done, "image")} done.`));
  if (r.reasons.length) {
    const rest = r.reasons.length - 3;
    out.append(el("ul", {}, ...r.reasons.slice(0, 3).map(x => el("li", {}, `${count(x.images, "time")}: ${x.message} (${kindOf(x)})`)),
                  rest > 0 ? el("li", {}, `${count(rest, "other reason")} below`) : null));
  }
  if (failed && r.unfinished) out.append(text("The last run did not end by itself."));
  if (failed && r.shards_missing) out.append(text(`${r.shards_missing} of ${are(r.shards, "shard")} missing.`));
  if (r.lists > 1)
    out.append(text(`The shards are from ${r.lists} different lists: an image that only some runs had may be in no shard. Run the job again; finished files are kept.`));
  if (r.made_twice) out.append(text(`${count(r.made_twice, "image")} ${r.made_twice === 1 ? "was" : "were"} made more than once.`));
  return out;
}

// Equal failures are one row. The reason comes first, because a phone shows only the left side.
function failures(r, lists) {
  const rows = r.reasons.slice(0, MOST_ROWS).map((reason, n) => {
    const images = lists.reasons[n], rest = reason.images - images.length;
    const named = reason.images === 1 ? images[0] : el("details", {}, el("summary", {}, `${reason.images} images`),
      el("ul", {}, ...images.map(i => el("li", {}, i)), rest ? el("li", { className: "dim" }, `${rest} more are in the logs`) : null));
    return [el("td", { className: "reason" }, reason.message), el("td", { className: reason.retryable ? "warn-text" : "bad-text" }, kindOf(reason)),
            number(reason.images), el("td", { className: "path" }, named), reason.status ?? ""];
  });
  const left = r.reasons.length - rows.length;
  return rows.length && section("failures", "Failures", table(["What is wrong", "Retry", "#Images", "Image", "Kind"], rows),
                                left ? el("p", { className: "dim" }, `${left} more are in the logs.`) : null);
}

function totals(r, lists) {
  const card = (id, name, value, note) => el("div", {}, el("dt", {}, name), el("dd", { id }, value, note ? el("small", {}, note) : null));
  const cpu = Object.values(r.stage_seconds).reduce((a, b) => a + b, 0);
  return el("dl", { className: "cards", id: "totals" }, card("images", "Images", r.images),
            ...lists.states.map(s => card(s.id, s.title, s.images, s.id === "failed" && s.images
              ? `${s.images - r.retryable} permanent, ${r.retryable} temporary` : "")),
            r.tx_bytes ? card("tx-bytes", "Tx files", formatBytes(r.tx_bytes), `of ${formatBytes(r.source_bytes)} of images`) : null,
            cpu > 0 ? card("cpu", "Processor time", formatSeconds(cpu), `${formatSeconds(r.seconds)} of runs`) : null);
}

// Twelve digits of the key of a list are enough to compare runs. A single complete run needs no table.
function runs(r, lists) {
  if (r.runs < 2 && !r.incomplete_runs && !r.shards) return null;
  const rows = lists.runs.map(run => {
    const first = [path(run.log), number(run.shard, run.shards ? `${run.shard} of ${run.shards}` : "", ""), number(run.inputs)];
    if (!run.complete) return [...first, "", "", "", el("td", { className: "warn-text" }, "no summary: stopped, or still running"), ""];
    return [...first, number(run.created), number(run.failed), seconds(run.seconds), number(run.exit_code, String(run.exit_code), run.exit_code ? "bad-text" : ""),
            run.list_key ? `${run.list_key.slice(0, 12)} (${run.listed})` : ""];
  });
  return section("runs", "Runs", table(["Log", "Shard", "#Inputs", "#Created", "#Failed", "#Time", "Exit", "List (inputs)"], rows));
}

// The ratio is tx bytes by image bytes; it is usually above 1 for JPEG, because tx files are lossless.
function disk(r, lists) {
  const row = k => {
    const ratio = share(k.tx_bytes, k.source_bytes);
    return [k.pixels, number(k.files), bytes(k.source_bytes), bytes(k.tx_bytes), number(ratio, ratio.toFixed(2)),
            bar(share(k.tx_bytes, r.tx_bytes), `${ratio.toFixed(2)} times the images`)];
  };
  const all = { pixels: "all", files: lists.pixels.reduce((n, k) => n + k.files, 0), source_bytes: r.source_bytes, tx_bytes: r.tx_bytes };
  return lists.pixels.length && section("disk", "Disk", table(["Pixels", "#Files", "#Images", "#Tx files", "#Ratio", "Part of all tx files"],
                                                               lists.pixels.map(row), { foot: row(all) }));
}

// The slider scales the memory by the share of visible tiles.
function memory({ texture_memory: m }) {
  if (!m.images) return null;
  const slider = el("input", { type: "range", id: "share", min: 1, max: 100, value: 100 }), shown = el("output", { id: "share-text" });
  const box = el("div");
  function fill() {
    const visible = slider.value / 100;
    shown.textContent = `${slider.value} %`;
    box.replaceChildren(table(["Textures appear at", "#Memory", "#Saved", "Against the full images"],
      m.from_level_bytes.slice(0, LEVELS).map((size, level) => {
        const part = share(size * visible, m.full_bytes);
        return [level ? `1/${2 ** level} of the resolution` : "full resolution", number(size * visible, formatBytes(size * visible), "n size"),
                number(1 - part, `${(100 * (1 - part)).toFixed(1)} %`, "n saved"), bar(part, `${(100 * part).toFixed(0)} percent of the full images`)];
      }), { sortable: false }));
  }
  slider.addEventListener("input", fill);
  fill();
  return section("memory", "Texture memory in Cycles",
    el("p", {}, `Without a texture cache Cycles loads ${count(m.images, "image")} completely: `, el("strong", { id: "full-bytes" }, formatBytes(m.full_bytes)),
       `. With it, Cycles loads only the levels that the picture needs, and of these only the visible ones of the ${m.tiles} tiles. The table shows the memory by the resolution at which the textures appear:`),
    el("label", {}, "Visible tiles ", slider, shown), box,
    el("p", { className: "dim" }, "Only pixels; colour counts as four channels, as in Cycles."));
}

function times({ stage_seconds: stages }) {
  const all = Object.values(stages).reduce((a, b) => a + b, 0);
  return all > 0 && section("stages", "Processor time by stage", table(["Stage", "What it does", "#Time", "#Part", ""],
    Object.entries(stages).map(([name, s]) => [name, el("td", { className: "dim" }, STAGES[name] ?? ""), seconds(s),
                                               number(s / all, `${(100 * s / all).toFixed(1)} %`), bar(s / all, name)])));
}

function slowest({ slowest: files }) {
  return files.length && section("slowest", "Slowest images", table(["Image", "#Size", "Pixels", "Colour", "Reader", "#Tx file", "#Time"],
    files.map(f => [path(f.image), number(f.width * f.height, `${f.width} x ${f.height}`), f.pixels, f.colorspace ?? "", f.reader ?? "",
                    bytes(f.tx_bytes), seconds(f.seconds)])));
}

// A short list is shown open, a long one folded.
function lint(r, lists) {
  const found = lists.lint.map(({ id, text, images }) => {
    const all = r.lint[id], rest = all - images.length;
    return el("details", { id: `lint-${id}`, open: all <= 10 }, el("summary", {}, el("strong", {}, id), `: ${all} `, el("span", { className: "dim" }, `(${text})`)),
              el("ul", {}, ...images.map(i => el("li", {}, i))), rest ? el("p", { className: "dim" }, `${rest} more are in the logs.`) : null);
  });
  return found.length && section("lint", "Likely mistakes", ...found);
}

function showReport({ title, time, program, report: r, lists }) {
  const skipped = r.foreign_lines;
  documentOf(title, el("header", {}, el("h1", {}, title), el("p", {}, `${count(r.runs, "run")}, report of ${time} by ${program}`)),
    ...[verdictOf(r), failures(r, lists), totals(r, lists), runs(r, lists), disk(r, lists), memory(r), times(r), slowest(lists), lint(r, lists),
        skipped && el("footer", {}, el("p", {}, `${count(skipped, "line")} ${skipped === 1 ? "was" : "were"} skipped: in the logs, but not from txmill make --json.`))].filter(Boolean));
}
