// SPDX-License-Identifier: Apache-2.0
// Controls and keys. The address contains the file and level (#2 or #2/L3), so that a view can be bookmarked and shared.

function showViewer(data) {
  document.body.append(document.getElementById("view").content.cloneNode(true));
  const files = data.files.map((info, n) => new TxFile(info, n));
  const display = new Display(data.thresholds);
  const stage = new Stage(by("stage"), display, refresh);

  const GROUNDS = ["checker", "black", "white"];

  // ---- state into the page ----

  function press(set, is) {
    for (const button of by(set).querySelectorAll("button")) button.setAttribute("aria-pressed", is(button));
  }

  // Called after every frame: updates the controls that show the current view.
  function refresh() {
    const file = stage.file;
    if (!file || by("viewer").hidden) return;
    const wanted = stage.layout === "one" ? stage.wantedLevel() : null, shown = wanted === null ? null : file.shown(wanted);
    const level = wanted === null ? null : file.levels[wanted];
    by("level").textContent = level ? `${stage.level === null ? "auto " : ""}L${wanted}  ${level.width} × ${level.height}` : "all levels";
    by("level").setAttribute("aria-pressed", stage.level === null && stage.layout === "one");
    press("set-layout", b => b.dataset.layout === stage.layout);
    press("set-channel", b => b.dataset.channel === String(stage.look.channel));
    press("set-overlay", b => stage.overlays.has(b.dataset.overlay));
    press("set-ground", b => b.dataset.ground === stage.look.ground);
    by("exposure").value = stage.look.exposure;
    by("exposure-value").textContent = `${stage.look.exposure > 0 ? "+" : ""}${stage.look.exposure}`;
    for (const row of by("panel").querySelectorAll(".level"))
      row.setAttribute("aria-current", row.dataset.level === String(wanted));
    const substituted = level && shown !== level;
    by("notice").hidden = !substituted;
    if (substituted)
      by("notice").textContent = shown ? `Level ${wanted} is not in this page; this is level ${shown.number}, enlarged.`
        : "This page has no level of this file.";
    by("readout").replaceChildren(...describePoint(file, stage.under(stage.hover)));
    Object.assign(document.body.dataset, { file: file.number, level: wanted ?? "all", shown: shown?.number ?? "", zoom: stage.zoom,
                                           left: stage.left, top: stage.top, busy: stage.blocks.pending + (stage.asked ? 1 : 0) });
  }

  function remember() {
    const level = stage.level === null ? "" : `/L${stage.level}`;
    history.replaceState(null, "", by("viewer").hidden ? location.pathname : `#${stage.file.number}${level}`);
  }

  // ---- what can be done ----

  function showFile(number, level = null) {
    const file = files[number];
    if (!file || file.error) return showIndex();
    by("index").hidden = true;
    by("viewer").hidden = false;
    document.title = `${file.name} – txmill view`;
    stage.look.channel = "color";
    const names = ["color", ...channelNames(file.channels).keys()];
    by("set-channel").replaceChildren(...(file.channels === 1 ? [] : names).map(name => {
      const button = el("button", { title: name === "color" ? "All channels (C)" : `Channel ${channelNames(file.channels)[name]} alone` },
                        name === "color" ? "Colour" : channelNames(file.channels)[name]);
      button.dataset.channel = name;
      return button;
    }));
    by("set-ground").hidden = file.channels % 2 !== 0;
    fillPanel(by("panel"), file, display, data.page_bytes, chooseLevel);
    stage.resize();
    stage.show(file, level !== null && level < file.levels.length ? level : null);
    remember();
  }

  function showIndex() {
    by("viewer").hidden = true;
    by("index").hidden = false;
    document.title = "Textures – txmill view";
    stage.file = null;
    delete document.body.dataset.file;
    remember();
  }

  function chooseLevel(level) {
    stage.layout = "one";
    stage.level = level;
    remember();
    stage.draw();
  }

  function stepLevel(by) {
    const now = stage.wantedLevel();
    chooseLevel(Math.min(stage.file.levels.length - 1, Math.max(0, now + by)));
  }

  function chooseLayout(layout) {
    if (stage.layout === layout) return;
    stage.layout = layout;
    stage.fit();
  }

  function chooseChannel(channel) {
    stage.look.channel = stage.look.channel === channel ? "color" : channel;
    stage.draw();
  }

  function toggleOverlay(name) {
    if (!stage.overlays.delete(name)) stage.overlays.add(name);
    stage.draw();
  }

  function expose(stops) {
    stage.look.exposure = Math.min(10, Math.max(-10, stops));
    stage.draw();
  }

  function setGround(ground) {
    stage.look.ground = ground;
    stage.draw();
  }

  function nextFile(step) {
    const good = files.filter(f => !f.error), at = good.indexOf(stage.file);
    showFile(good[(at + step + good.length) % good.length].number);
  }

  function toggleTheme() {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = (root.dataset.theme ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
    stage.draw();
  }

  // ---- keys ----

  const middle = () => [stage.canvas.width / 2, stage.canvas.height / 2];
  const step = shift => (shift ? 8 : 64) * stage.ratio;
  // Key, text in the help (null: included in the previous one), function.
  const keys = [
    ["ArrowLeft", "Move (Shift: a little)", e => stage.pan(step(e.shiftKey), 0)],
    ["ArrowRight", null, e => stage.pan(-step(e.shiftKey), 0)],
    ["ArrowUp", null, e => stage.pan(0, step(e.shiftKey))],
    ["ArrowDown", null, e => stage.pan(0, -step(e.shiftKey))],
    ["+", "Closer, further", () => stage.zoomAt(2, ...middle())],
    ["-", null, () => stage.zoomAt(0.5, ...middle())],
    ["=", null, () => stage.zoomAt(2, ...middle())],
    ["0", "Fit the window", () => stage.fit()],
    ["1", "Actual pixels", () => stage.actual()],
    ["[", "Finer, coarser level", () => stepLevel(-1)],
    ["]", null, () => stepLevel(1)],
    ["a", "Level chosen by the zoom", () => chooseLevel(null)],
    ["p", "One level, or all side by side", () => chooseLayout(stage.layout === "one" ? "pyramid" : "one")],
    ["t", "Tile lines", () => toggleOverlay("tiles")],
    ["b", "Borders of tiles", () => toggleOverlay("borders")],
    ["h", "Bytes of each tile", () => toggleOverlay("bytes")],
    ["c", "Next channel, all channels", () => {
      const at = stage.look.channel === "color" ? 0 : stage.look.channel + 1;
      stage.look.channel = at < stage.file.channels ? at : "color";
      stage.draw();
    }],
    ["e", "Brighter, darker, as it is", () => expose(stage.look.exposure + 0.5)],
    ["E", null, () => expose(stage.look.exposure - 0.5)],
    ["x", null, () => expose(0)],
    ["g", "Background", () => setGround(GROUNDS[(GROUNDS.indexOf(stage.look.ground) + 1) % GROUNDS.length])],
    ["d", "Light or dark", toggleTheme],
    ["n", "Next, previous file", () => nextFile(1)],
    ["N", null, () => nextFile(-1)],
    ["Escape", "All files", () => { if (files.length > 1) showIndex(); }],
    ["?", "This list", () => by("help").showModal()],
  ];
  const keyNames = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

  function fillHelp() {
    const rows = [];
    for (const [key, text] of keys)
      if (text) rows.push([[key], text]); else if (key !== "=") rows.at(-1)[0].push(key);
    by("help-keys").append(...rows.flatMap(([names, text]) =>
      [el("dt", {}, ...names.map(k => el("kbd", {}, keyNames[k] ?? k))), el("dd", {}, text)]));
  }

  addEventListener("keydown", event => {
    if (by("viewer").hidden || by("help").open || event.ctrlKey || event.metaKey || event.altKey) return;
    // The slider and the buttons handle their own keys.
    if (event.target === by("exposure") && event.key.startsWith("Arrow")) return;
    const found = keys.find(([key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[2](event);
  });

  // ---- buttons ----

  const clicks = { finer: () => stepLevel(-1), coarser: () => stepLevel(1), fit: () => stage.fit(), back: showIndex,
                   actual: () => stage.actual(), keys: () => by("help").showModal(),
                   level: () => { chooseLayout("one"); chooseLevel(stage.level === null ? stage.wantedLevel() : null); } };
  for (const [id, act] of Object.entries(clicks)) by(id).addEventListener("click", act);
  by("bar").addEventListener("click", ({ target: { dataset } }) => {
    if (dataset.layout) chooseLayout(dataset.layout);
    if (dataset.overlay) toggleOverlay(dataset.overlay);
    if (dataset.ground) setGround(dataset.ground);
    if (dataset.channel) chooseChannel(dataset.channel === "color" ? "color" : Number(dataset.channel));
  });
  by("exposure").addEventListener("input", event => expose(Number(event.target.value)));
  for (const button of document.querySelectorAll(".theme")) button.addEventListener("click", toggleTheme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => stage.draw());

  // ---- the first view ----

  if (typeof DecompressionStream === "undefined")
    document.body.prepend(el("p", { className: "stop" }, "This browser cannot decompress the pixels, because it has no DecompressionStream; use a newer one."));
  fillHelp();
  by("back").hidden = files.length < 2;
  function followAddress() {
    const where = /^#(\d+)(?:\/L(\d+))?$/.exec(location.hash);
    if (where) showFile(Number(where[1]), where[2] ? Number(where[2]) : null);
    else if (files.length === 1) showFile(0, data.level);
    else showIndex();
  }

  followAddress();
  addEventListener("hashchange", followAddress);
  if (files.length > 1) fillIndex(files, display, number => showFile(number, data.level));
}
