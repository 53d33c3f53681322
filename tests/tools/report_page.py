# SPDX-License-Identifier: Apache-2.0
"""The page of `txmill report` in a browser: report_page.py PAGE MANY STOPPED ONE: a page of
several runs, one of more failures than it lists, one of a run that was stopped, one of a single image. Prints a line for each check, as tests/lib.sh does."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "util"))
from browser import Browser  # noqa: E402

page, many, stopped, one = sys.argv[1:]
failed = 0
READY = "document.body.dataset.ready"


def check(name, good, *why):
    global failed
    failed += not good
    print("ok" if good else "not ok", name, *([] if good else why))


def text(b, selector):
    return b.eval("document.querySelector(%r)?.innerText.replace(/\\s+/g, ' ').trim()" % selector)


def column(b, table, n):
    return b.eval("[...document.querySelectorAll('%s tbody tr')].map(r => r.cells[%d].textContent)" % (table, n))


with Browser(1100, 900) as b:
    b.open(page, ready=READY)
    check("page-title", b.eval("document.title") == "Shot <b>10</b>", b.eval("document.title"))
    check("page-heading-is-text", text(b, "h1") == "Shot <b>10</b>")
    check("page-verdict", text(b, "#verdict strong") == "3 of 13 images failed", text(b, "#verdict"))
    check("page-failures-come-first", b.eval("document.querySelector('section:not(#verdict)').id") == "failures")
    check("page-permanent-first", column(b, "#failures", 1) == ["permanent", "temporary"], column(b, "#failures", 1))
    check("page-equal-failures-are-one-row", column(b, "#failures", 2) == ["2", "1"], column(b, "#failures", 2))
    check("page-sum-says-the-reason", text(b, "#verdict li").startswith("2 times: the file is empty") and
          text(b, "#verdict li").endswith("(permanent)"), text(b, "#verdict"))
    b.eval("document.querySelector('#failures details').open = true")
    check("page-names-are-text", "bad<script>alert(1)<b>.png" in text(b, "#failures"), text(b, "#failures"))
    check("page-nothing-from-names", b.eval("document.querySelectorAll('#failures script, #failures b').length") == 0)
    check("page-created", text(b, "#created") == "10", text(b, "#created"))
    check("page-shards", column(b, "#runs", 1) == ["", "1 of 2", "2 of 2", ""], column(b, "#runs", 1))
    check("page-killed-run-shown", "stopped, or still running" in text(b, "#runs"))
    check("page-stages", len(column(b, "#stages", 0)) == 8)
    check("page-lint", b.eval("document.querySelectorAll('#lint-grey-rgb li').length") == 1)
    # 1/2 of the resolution takes a quarter of level 0, and a third of that for the levels above.
    saved = b.eval("document.querySelectorAll('#memory .saved')[1].textContent")
    check("page-memory", 66 < float(saved.split()[0]) < 67.5, saved)
    before = b.eval("document.querySelectorAll('#memory .size')[0].textContent")
    b.eval("(() => { const e = document.getElementById('share'); e.value = 50; e.dispatchEvent(new Event('input')) })()")
    half = b.eval("document.querySelectorAll('#memory .size')[0].textContent")
    check("page-share-of-tiles", abs(float(half.split()[0]) * 2 - float(before.split()[0])) < 0.3, before, half)
    b.click_on("#slowest th:nth-child(1) button")
    names = column(b, "#slowest", 0)
    check("page-sorts-by-text", names == sorted(names, reverse=True) and len(names) > 2, names)
    b.click_on("#slowest th:nth-child(6) button")
    sizes = b.eval("[...document.querySelectorAll('#slowest tbody tr')].map(r => Number(r.cells[5].dataset.v))")
    check("page-sorts-by-number", sizes == sorted(sizes, reverse=True), sizes)
    light = b.eval("getComputedStyle(document.body).backgroundColor")
    b.resize(360, 700)
    seen = b.eval("[...document.querySelectorAll('#failures td')].every(c => c.getBoundingClientRect().right <= 360)")
    check("page-reason-on-a-phone", seen)
    check("page-fits-a-phone", b.eval("document.documentElement.scrollWidth") <= 360,
          b.eval("document.documentElement.scrollWidth"))
    check("page-asks-for-nothing", not b.problems and len(b.requests) == 1, b.problems, b.requests)
with Browser(1100, 900, dark=True) as b:
    b.open(many, ready=READY)
    check("page-left-out", len(column(b, "#failures", 0)) == 1 and "2000 more are in the logs" in
          b.eval("document.querySelector('#failures details').textContent"))
    check("page-red", b.eval("document.querySelector('#verdict').className") == "verdict bad")
    b.open(one, ready=READY)
    check("page-one-image", (text(b, "#verdict"), text(b, "#memory p").split(":")[0]) ==
          ("The image is done", "Without a texture cache Cycles loads 1 image completely"), text(b, "#verdict"))
    b.open(stopped, ready=READY)
    check("page-stopped", "the last run did not end by itself" in text(b, "#verdict").lower(), text(b, "#verdict"))
    b.open(page, ready=READY)
    dark = b.eval("getComputedStyle(document.body).backgroundColor")
    check("page-dark", dark != light and int(dark.split("(")[1].split(",")[0]) < 64, light, dark)
sys.exit(failed != 0)
