# SPDX-License-Identifier: Apache-2.0
"""Pages of txmill-stream in a browser: stream_pages.py PAGE... Compares what each shows with the figures in it, by its kind.
Prints a line for each check, as tests/lib.sh does."""
import os
import subprocess
import sys
import json

UTIL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "util")
sys.path.insert(0, UTIL)
from browser import Browser  # noqa: E402

failed = 0


def check(name, good, *why):
    global failed
    failed += not good
    print("ok" if good else "not ok", name, *([] if good else why))


def size(n):
    for unit, step in ("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9):
        if n < 1000 * step:
            return f"{n} B" if unit == "B" else f"{n / step:.1f} {unit}"


def column(b, table, n):
    return b.eval("[...document.querySelectorAll('#%s tbody tr')].map(r => r.cells[%d].textContent)" % (table, n))


def titles(b):
    return b.eval("[...document.querySelectorAll('svg > title')].map(t => t.textContent)")


def render(b, data):
    report = data["report"]
    check("render-heading-is-text", b.eval("document.querySelector('h1').textContent") == report["scene"])
    check("render-pictures", b.eval("[...document.images].every(i => i.complete && i.naturalWidth > 0)") and
          b.eval("document.images.length") == len(data["pictures"]) >= 4 + len(report["images"]), data["pictures"])
    maps = b.eval("[...document.querySelectorAll('#tiles figcaption')].map(c => c.textContent)")
    check("render-maps", len(maps) == len(report["images"]) and all(" tiles, finest level " in m for m in maps), maps)
    check("render-costs", column(b, "textures", 5) == [str(i["loads"]) for i in report["images"]])
    check("render-memory", "Memory of textures over time" in titles(b), titles(b))
    check("render-other-caches", ("replay" in data) == ("Tiles read by cache size" in titles(b)), titles(b))
    if "replay" in data:
        check("render-caches-say", "working set is" in b.eval("document.querySelector('#caches figcaption').textContent"))


def budget(b, data):
    report = data["report"]
    verdict = b.eval("document.querySelector('.verdict').textContent")
    if not report["tiles"]:
        return check("budget-of-nothing", verdict == "This picture uses no texture.", verdict)
    tiled = " with render tiles of %d px" % report["render_tiles"][1]["px"] if data["render_tile"] else ""
    peak = size(report["resolutions"][0]["peak_bytes"])
    check("budget-verdict", f"needs {peak} of texture memory at once{tiled}, and " in verdict, verdict)
    images = sorted(report["images"], key=lambda i: -i["used_bytes"])
    saved = [i["resolutions"][0]["used_bytes"] - i["resolutions"][1]["used_bytes"] for i in images]
    best = saved.index(max(saved))
    check("budget-best", f"to halve {images[best]['image']}: {size(saved[best])} (" in verdict, verdict)
    check("budget-largest-first", column(b, "textures", 0) == [i["image"] for i in images], column(b, "textures", 0))
    check("budget-sizes", column(b, "textures", 2) == [size(i["used_bytes"]) for i in images], column(b, "textures", 2))
    check("budget-saved", all(c.startswith(size(s) + " (") for c, s in zip(column(b, "textures", 5), saved)))
    for part, of in ("soft", lambda i, s: i["used_bytes"]), ("part", lambda i, s: i["used_bytes"] - s):
        shown = b.eval("[...document.querySelectorAll('#textures rect.%s')].map(r => parseFloat(r.getAttribute('width')))" % part)
        wanted = [100 * of(i, s) / images[0]["used_bytes"] for i, s in zip(images, saved)]
        check("budget-bars-" + part, all(abs(x - y) < 0.01 for x, y in zip(shown, wanted)) and len(shown) == len(images), shown)


def play(b, data):
    report = data["report"]
    check("play-plots", [t.split(" over")[0] for t in titles(b)][2:4] == ["Requests", "Tiles"], titles(b))
    check("play-points", b.eval("document.querySelector('polyline').getAttribute('points').split(' ').length") == len(report["frames"]))
    check("play-verdict", b.eval("document.querySelector('.verdict').textContent").startswith(
        "%d frames of %.2f ms" % (len(report["frames"]), report["totals"]["ms"] / len(report["frames"]))))
    check("play-side-by-side", b.eval("document.images.length") == 2)


with Browser(1100, 900) as browser:
    for page in sys.argv[1:]:
        what = json.loads(subprocess.check_output([sys.executable, os.path.join(UTIL, "page_data.py"), page]))
        browser.open(page, ready="document.body.dataset.ready")
        {"render": render, "budget": budget, "play": play}[what["page"]](browser, what)
        check("nothing-from-names", browser.eval("document.querySelectorAll('main script, main b').length") == 0)
    check("pages-ask-for-nothing", not browser.problems and len(browser.requests) >= len(sys.argv) - 1, browser.problems)
sys.exit(failed != 0)
