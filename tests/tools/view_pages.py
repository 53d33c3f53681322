#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests pages of `txmill view --html` in a headless Chromium: view_pages.py TXMILL FOLDER_OF_SOURCES, in an empty folder.

Prints "ok NAME" or "not ok NAME" for each check, as tests/lib.sh does: pixels of the canvas against `txmill extract`, every
control, pages with levels left out, an index, and files whose names and texts look like markup.
"""
import json
import os
import subprocess
import sys
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "util"))
from browser import Browser  # noqa: E402

TXMILL, SOURCES = sys.argv[1], sys.argv[2]
READY = "document.body.dataset.ready"
failures = 0


def check(name, good, *details):
    global failures
    failures += not good
    print(("ok " if good else "not ok ") + name)
    if not good:
        for d in details:
            print("   ", d)


def txmill(*arguments):
    return subprocess.run([TXMILL, *arguments], check=True, capture_output=True, text=True).stdout


def pnm(path):
    """Width, height and RGB bytes of a portable map; 16 bits are rounded to 8."""
    data = open(path, "rb").read()
    kind, width, height, most = data.split(None, 4)[:4]
    width, height, channels, wide = int(width), int(height), 1 if kind == b"P5" else 3, int(most) > 255
    body = data[-width * height * channels * (2 if wide else 1):]
    if wide:
        body = bytes((int.from_bytes(body[i:i + 2], "big") * 255 * 2 + 65535) // (2 * 65535) for i in range(0, len(body), 2))
    return width, height, bytes(v for v in body for _ in range(3)) if channels == 1 else body


def rgb(rgba):
    out = bytearray(len(rgba) // 4 * 3)
    for c in range(3):
        out[c::3] = rgba[c::4]
    return bytes(out)


def cut(pixels, stride, x, y, w, h):
    """A rectangle of an RGB image that is `stride` pixels wide."""
    return b"".join(pixels[3 * ((y + row) * stride + x):][:3 * w] for row in range(h))


def farthest(a, b):
    return 0 if a == b else max((abs(x - y) for x, y in zip(a, b)), default=0) if len(a) == len(b) else 256


def state(b):
    b.wait("document.body.dataset.busy === '0'")
    return b.eval("({...document.body.dataset})")


def settled(b):
    """Returns after the last change was drawn."""
    b.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return state(b)


def press(b, *keys):
    for key in keys:
        b.key(key)
    return settled(b)


def make(name, *options):
    txmill("make", "-q", "-o", name + ".tx", *options)
    return name + ".tx"


# ---- pixels ----

def level_places(info, gap):
    """Corner of every level when all are side by side; `txmill extract --atlas` leaves no gap."""
    places, y = [(0, 0)], 0
    for level in info["levels"][1:]:
        places.append((info["width"] + gap, y))
        y += level["height"] + gap
    return places


def check_pixels(b, name, tx, tolerance):
    info = json.loads(txmill("info", "--json", tx))
    txmill("view", "--html", name + ".html", tx)
    b.open(name + ".html", ready=READY)
    press(b, "t", "g", "p", "1")
    at, worst, gap = settled(b), 0, max(1, int(max(info["width"], info["height"]) / 48 + 0.5))
    txmill("extract", "--atlas", "-o", name + ".ppm", tx)
    stride, _, atlas = pnm(name + ".ppm")
    width, height = info["width"] * 2 + gap, sum(level["height"] + gap for level in info["levels"])
    canvas = rgb(b.canvas("#stage", int(at["left"]), int(at["top"]), width, height))
    for level, here, there in zip(info["levels"], level_places(info, gap), level_places(info, 0)):
        size = level["width"], level["height"]
        worst = max(worst, farthest(cut(canvas, width, *here, *size), cut(atlas, stride, *there, *size)))
    check("pixels-" + name, worst <= tolerance, "differ by %d" % worst)


def all_pixels(b):
    # Colours may differ by one code where they are divided by alpha, encoded and multiplied again; elsewhere they are
    # equal.
    for name, source, tolerance, *options in [
            ("rgb8", "rgb8.png", 0), ("rgb8-data", "rgb8.png", 0, "-c", "Non-Color"),
            ("rgb8-linear", "rgb8.png", 0, "-c", "Linear Rec.709"), ("grey8", "gray8.png", 0, "--tile", "16"),
            ("rgba8", "rgba8.png", 0), ("rgb16", "rgb16.png", 0), ("half", "half-rgb.exr", 0, "--tile", "512"),
            ("half-alpha", "half-rgba.exr", 1), ("float", "float-rgb.exr", 0), ("float-grey", "float-gray.exr", 0),
            ("constant", "constant.png", 0), ("narrow", "narrow.png", 0)]:
        check_pixels(b, name, make(name, os.path.join(SOURCES, source), *options), tolerance)


# ---- controls ----

def check_movement(b):
    before = settled(b)
    b.drag(400, 400, 430, 380)
    after = settled(b)
    moved = int(after["left"]) - int(before["left"]), int(after["top"]) - int(before["top"])
    check("drag", moved == (30, -20), moved)
    left = press(b, "ArrowLeft")
    check("arrow", int(left["left"]) - int(after["left"]) == 64, left, after)
    # The pixel under the pointer stays there.
    b.mouse("mouseMoved", 300, 300)
    settled(b)
    here = b.eval("document.querySelector('#readout').textContent")
    b.mouse("mouseWheel", 300, 300, deltaX=0, deltaY=-400)
    wheel = settled(b)
    check("wheel", abs(float(wheel["zoom"]) / float(left["zoom"]) - 2) < 1e-6, wheel)
    check("wheel-keeps-place", b.eval("document.querySelector('#readout').textContent") == here, here)
    closer = press(b, "+")
    check("zoom-key", float(closer["zoom"]) == 2 * float(wheel["zoom"]))
    b.click_on("#fit")
    check("fit", settled(b)["zoom"] == before["zoom"])


def check_levels(b, levels):
    check("level-by-zoom", press(b, "0")["level"] == "0")
    check("level-coarser", press(b, "]", "]")["level"] == "2")
    check("level-finer", press(b, "[")["level"] == "1")
    check("level-in-address", b.eval("location.hash") == "#0/L1")
    b.click_on(".level[data-level='%d']" % (levels - 1))
    check("level-in-plot", settled(b)["level"] == str(levels - 1))
    check("level-again-by-zoom", press(b, "a")["level"] == "0")
    press(b, "1", "-", "-", "-")
    check("level-of-small-picture", state(b)["level"] == "3", state(b))
    check("layout", press(b, "p")["level"] == "all")
    check("layout-back", press(b, "p", "0")["level"] == "0")


def check_pointer(b, tx):
    press(b, "1")
    at = settled(b)
    x, y = 130, 70  # of level 0: tile 2,1
    corner = b.eval("(() => { const r = document.querySelector('#stage').getBoundingClientRect(); return [r.x, r.y] })()")
    b.mouse("mouseMoved", corner[0] + int(at["left"]) + x + 0.5, corner[1] + int(at["top"]) + y + 0.5)
    settled(b)
    words = b.eval("[...document.querySelectorAll('#readout span')].map(s => s.textContent)")
    lines = [line.split() for line in txmill("tile", "-t", "2,1", tx).splitlines()]
    r, g, blue, _ = next(v for px, py, *v in lines if (px, py) == (str(x), str(y)))
    size = json.loads(txmill("info", "--tiles", "--json", tx))["tiles"]["levels"][0]["tile_bytes"][1 * 5 + 2]
    check("pointer", words[:3] == ["level 0", "pixel 130, 70", "tile 2, 1"], words)
    check("pointer-bytes", words[3] == "stored %.1f kB" % (size / 1000), words, size)
    check("pointer-values", [w.split()[:2] for w in words[4:7]] == [["R", r], ["G", g], ["B", blue]], words, (r, g, blue))
    b.mouse("mouseMoved", 5, 5)
    settled(b)
    check("pointer-gone", "Move the pointer" in b.eval("document.querySelector('#readout').textContent"))


def check_looks(b, tx):
    txmill("extract", "-o", "zero.ppm", tx)
    w, h, plain = pnm("zero.ppm")
    press(b, "1")
    b.eval("document.activeElement.blur()")
    at = settled(b)
    box = int(at["left"]), int(at["top"]), w, h

    def look():
        settled(b)
        return rgb(b.canvas("#stage", *box))
    lined = look()
    places = [i // 3 for i in range(0, len(plain), 3) if lined[i:i + 3] != plain[i:i + 3]]
    check("tile-lines", places and all(p % w % 64 == 0 or p // w % 64 == 0 for p in places), len(places))
    press(b, "t")
    check("tile-lines-off", look() == plain)
    press(b, "b")
    banded = look()
    places = [i // 3 for i in range(0, len(plain), 3) if banded[i:i + 3] != plain[i:i + 3]]
    near = all(min((p % w) % 64, 63 - (p % w) % 64) < 2 or min((p // w) % 64, 63 - (p // w) % 64) < 2 for p in places)
    check("borders", places and near, len(places))
    press(b, "b", "h")
    check("bytes", farthest(look(), plain) > 8)
    press(b, "h")
    check("bytes-off", look() == plain)
    b.click_on("#set-channel [data-channel='0']")
    check("channel-red", look() == bytes(plain[i - i % 3] for i in range(len(plain))))
    b.click_on("#set-channel [data-channel='color']")
    check("channels-all", look() == plain)
    press(b, "e", "e")
    light = look()
    check("exposure", sum(light) > sum(plain) * 1.1 and b.eval("document.querySelector('#exposure-value').textContent") == "+1")
    check("exposure-back", press(b, "x") and look() == plain)
    b.click_on("nav .theme")
    first = b.eval("getComputedStyle(document.body).backgroundColor")
    b.click_on("nav .theme")
    check("theme", first != b.eval("getComputedStyle(document.body).backgroundColor"))
    press(b, "?")
    check("help", b.eval("document.querySelector('#help').open && document.querySelectorAll('#help kbd').length > 20"))
    b.key("Escape")
    check("help-closed", not b.eval("document.querySelector('#help').open"))


def check_panel(b, tx):
    info = json.loads(txmill("info", "--json", tx))
    text = b.eval("document.querySelector('#panel').textContent")
    wanted = [info["sha1"], info["source"]["path"], "300 × 200", "Cycles uses it", "Linear Rec.709"]
    check("header", all(w in text for w in wanted), text)
    check("plot", b.eval("document.querySelectorAll('#panel .level').length") == len(info["levels"]))
    line = [l.split("made by", 1)[1].strip() for l in txmill("info", tx).splitlines() if l.strip().startswith("made by")]
    check("panel-maker-is-that-of-info", len(line) == 1 and line[0] in text, line, text)
    mean = float(b.eval("document.querySelector('#panel tbody tr td:nth-child(3)').textContent"))
    check("statistics", abs(mean - info["average"][0]) < 1e-4, mean)
    b.resize(420, 700)
    settled(b)
    check("small-window", b.eval("document.documentElement.scrollWidth <= innerWidth && "
                                 "document.querySelector('#panel').getBoundingClientRect().width > 380"))
    b.resize(1100, 720)
    settled(b)


def controls(b):
    tx = make("controls", os.path.join(SOURCES, "rgb8.png"), "--mono", "no")
    txmill("view", "--html", "controls.html", tx)
    b.open("controls.html", ready=READY)
    settled(b)
    check_movement(b)
    check_levels(b, 9)
    check_pointer(b, tx)
    check_looks(b, tx)
    check_panel(b, tx)


# ---- levels left out, several files, hostile files ----

def left_out(b):
    tx = make("bounded", os.path.join(SOURCES, "rgb8.png"))
    what = json.loads(txmill("view", "--json", "--page-size", "60K", "--html", "bounded.html", tx))
    check("page-size", what["levels"] == list(range(1, 9)) and 0 < what["pixel_bytes"] <= 60 << 10, what)
    b.open("bounded.html", ready=READY)
    at = settled(b)
    check("left-out-shows-next", (at["level"], at["shown"]) == ("0", "1"), at)
    check("left-out-told", "level 0 (300 × 200)" in b.eval("document.querySelector('#left-out').textContent"))
    check("left-out-notice", b.eval("!document.querySelector('#notice').hidden"))
    b.key("]")
    settled(b)
    check("left-out-notice-gone", b.eval("document.querySelector('#notice').hidden"))
    txmill("view", "--page-size", "0", "--html", "empty.html", tx)
    b.open("empty.html", ready=READY)
    settled(b)
    check("nothing-in-it", "no level of this file" in b.eval("document.querySelector('#notice').textContent"))


def index(b):
    files = [make("one", os.path.join(SOURCES, "rgb8.png")), make("two", os.path.join(SOURCES, "half-rgb.exr"))]
    open("broken.tx", "wb").write(b"no tx file")
    # Exit code 3: one of them cannot be read.
    done = subprocess.run([TXMILL, "view", "--html", "index.html", *files, "broken.tx"], capture_output=True, check=False)
    check("index-exit", done.returncode == 3, done.stderr)
    b.open("index.html", ready=READY)
    check("index-cards", b.eval("document.querySelectorAll('.card').length") == 3)
    infos = [json.loads(txmill("info", "--json", f)) for f in files]
    spaces = b.eval("[...document.querySelectorAll('.card .space')].map(s => s.textContent)")
    check("index-spaces", len(set(spaces)) == 2 and
          spaces == [i["colorspace"]["requested"] or i["colorspace"]["detected"] for i in infos], spaces)
    check("index-broken", "broken.tx" in b.eval("document.querySelector('.card.broken').textContent"))
    b.wait("document.querySelectorAll('canvas[data-drawn]').length === 2")
    w, h = b.eval("(() => { const c = document.querySelector('.card canvas'); return [c.width, c.height] })()")
    check("index-thumbnail", (w, h) == (192, 128) and len(set(b.canvas(".card canvas", 0, 0, w, h))) > 50, (w, h))
    b.click_on(".card:nth-child(2) .open")
    check("index-open", settled(b)["file"] == "1")
    check("index-next", press(b, "n")["file"] == "0")
    check("index-address", b.eval("location.hash") == "#0")
    b.key("Escape")
    check("index-back", b.eval("!document.querySelector('#index').hidden"))
    b.eval("(() => { const f = document.querySelector('#filter'); f.value = 'tw'; f.dispatchEvent(new Event('input')) })()")
    check("index-filter", b.eval("[...document.querySelectorAll('.card')].map(c => c.hidden)") == [True, False, True])
    b.eval("location.hash = '#1/L2'")
    b.wait("document.body.dataset.file === '1'")
    check("index-address-follows", settled(b)["level"] == "2")
    b.open("index.html", "?again#1/L2", ready=READY)
    settled(b)
    check("index-address-opens", (state(b)["file"], state(b)["level"]) == ("1", "2"))


def damaged(b):
    tx = make("damaged", os.path.join(SOURCES, "rgb8.png"), "--borders", "no")
    data = bytearray(open(tx, "rb").read())
    # The first tile of level 0 follows the header of a TIFF.
    data[8:40] = bytes(32)
    open(tx, "wb").write(data)
    table = json.loads(txmill("info", "--tiles", "--json", tx))["tiles"]["levels"]
    check("damaged-at-all", sum(len(level["tile_damaged"]) for level in table) == 1, table)
    txmill("view", "--html", "damaged.html", tx)
    b.open("damaged.html", ready=READY)
    at = press(b, "t", "g", "1")
    check("damaged-told", "1 damaged tile" in b.eval("document.querySelector('.badges').textContent"))
    # Black, except for the cross.
    x, y = int(at["left"]), int(at["top"])
    check("damaged-crossed", b.canvas("#stage", x + 32, y + 32, 1, 1)[:3] != bytes(3)
          and b.canvas("#stage", x + 32, y + 10, 1, 1)[:3] == bytes(3))


def hostile(b):
    evil = "</script><script>window.owned=1;alert(1)</script><img src=x onerror='window.owned=1'>"
    name = "<img src=x onerror=window.owned=1>&lt;<!--<script>.tx"
    txmill("make", "-q", "-o", name, "--attrib", "comment=" + evil, "--attrib", "<!--<script>=" + evil,
           os.path.join(SOURCES, "gray8.png"))
    bad = "<svg onload=window.owned=1>.tx"
    open(bad, "wb").write(b"II*\0")
    subprocess.run([TXMILL, "view", "--html", "hostile.html", name, bad], capture_output=True, check=False)
    b.open("hostile.html", ready=READY)
    cards = b.eval("document.querySelector('#cards').textContent")
    check("hostile-names-are-text", name in cards and bad in cards, cards)
    b.click_on(".card .open")
    settled(b)
    texts = b.eval("[...document.querySelectorAll('.facts.all dd')].map(d => d.textContent)")
    check("hostile-metadata-is-text", evil in texts, texts)
    check("hostile-nothing-ran", b.eval("window.owned === undefined && document.querySelectorAll('img, svg').length === 0"))
    check("hostile-one-script", b.eval("document.querySelectorAll('script:not([type=\"text/plain\"])').length") == 2)


def main():
    with Browser(1100, 720) as b:
        for part in (all_pixels, controls, left_out, index, damaged, hostile):
            try:
                part(b)
            except Exception:  # this part failed; the others still run
                check(part.__name__, False, traceback.format_exc())
        check("no-errors-no-requests", not b.problems, *b.problems)
        check("pages-from-disk", b.requests and all(r.startswith("file:") for r in b.requests), set(b.requests))
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
