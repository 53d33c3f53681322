# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium for tests of HTML pages: opens a file from disk, evaluates JavaScript, sends keys and
the mouse, reads pixels back, takes screenshots. Python's standard library alone: the DevTools protocol goes over two
pipes, as JSON that ends with a NUL byte.

    with Browser(800, 600) as b:
        b.open("report.html")
        title = b.eval("document.title")
        b.key("ArrowLeft")
        b.screenshot("picture.png")
    assert not b.problems            # exceptions of scripts, and every requested URL except the page's

As a program it says whether there is a Chromium to drive: `browser.py` prints its path, or fails.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# The proxy answers nothing: if a page uses the network that fails, and is noted in `problems`. The sandbox cannot start
# as root, nor in many containers; it is not needed, because the tests made the pages themselves.
FLAGS = ("--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
         "--hide-scrollbars", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--mute-audio",
         "--force-color-profile=srgb", "--force-device-scale-factor=1", "--proxy-server=127.0.0.1:9",
         "--proxy-bypass-list=<-loopback>")
KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Escape": 27, "Tab": 9,
        " ": 32, "Home": 36, "End": 35}


def find():
    """Path of a Chromium, None if there is none. TXM_CHROMIUM names one."""
    named = os.environ.get("TXM_CHROMIUM")
    return named if named else next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, width=1280, height=800, dark=False, seconds=60):
        self.size, self.dark, self.seconds = (width, height), dark, seconds
        self.problems, self.requests, self.buffer, self.number = [], [], b"", 0

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="txm-chromium-", ignore_cleanup_errors=True)
        down, up = os.pipe(), os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4. The shell duplicates the pipes to these numbers,
        # since Python's subprocess cannot.
        flags = [*FLAGS, "--user-data-dir=" + self.profile.name, "--window-size=%d,%d" % self.size]
        script = 'exec "$@" 3<&%d 4>&%d' % (down[0], up[1])
        self.log = open(os.path.join(self.profile.name, "log"), "wb")
        self.process = subprocess.Popen(["bash", "-c", script, "browser", find(), *flags], pass_fds=(down[0], up[1]),
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        os.close(down[0])
        os.close(up[1])
        self.to, self.back = down[1], up[0]
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"}])
        self.resize(*self.size)
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.log.close()
        self.profile.cleanup()

    # ---- the protocol ----

    def receive(self, until):
        """The next message; events are noted before it is returned."""
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise RuntimeError("the browser did not answer within %d s" % self.seconds)
            data = os.read(self.back, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended:\n" + open(self.log.name, errors="replace").read()[-2000:])
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, params):
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.problems.append("console: " + " ".join(str(a.get("value")) for a in params["args"]))
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            self.requests.append(url)
            if not url.startswith(("file:", "data:", "blob:", "about:")):
                self.problems.append("asks for " + url)
        elif method == "Page.javascriptDialogOpening":
            self.problems.append("dialog: " + params["message"])
            self.send("Page.handleJavaScriptDialog", session=self.session, accept=True)

    def send(self, method, session=None, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + self.seconds
        while True:
            answer = self.receive(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]

    def call(self, method, **params):
        return self.send(method, session=self.session, **params)

    # ---- for tests ----

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, path, fragment="", ready="document.readyState === 'complete'"):
        """Loads a file from disk and waits until the expression `ready` holds."""
        url = pathlib.Path(path).resolve().as_uri() + fragment
        self.call("Page.navigate", url=url)
        self.wait("location.href.split('#')[0] === %s && (%s)" % (json.dumps(url.split("#")[0]), ready))

    def eval(self, expression):
        """The value of an expression; if it is a promise, its result."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def wait(self, expression):
        """Waits until the expression is true."""
        until = time.monotonic() + self.seconds
        while not self.eval("(() => { try { return !!(%s) } catch (e) { return false } })()" % expression):
            if time.monotonic() > until:
                raise RuntimeError("never true: " + expression)
            time.sleep(0.02)

    def key(self, key, shift=False):
        event = {"key": key, "modifiers": 8 if shift else 0, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper()))}
        if len(key) == 1:
            event["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def mouse(self, kind, x, y, **more):
        """kind: mousePressed, mouseReleased, mouseMoved, mouseWheel."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def click_on(self, selector):
        """The middle of an element, scrolled into view."""
        x, y = self.eval("(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'nearest'}); "
                         "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()"
                         % json.dumps(selector))
        self.click(x, y)

    def drag(self, x, y, to_x, to_y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseMoved", (x + to_x) / 2, (y + to_y) / 2, button="left", buttons=1)
        self.mouse("mouseMoved", to_x, to_y, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)

    def canvas(self, selector, x, y, width, height):
        """Pixels of a canvas as bytes, RGBA."""
        text = self.eval("(() => { const d = document.querySelector(%s).getContext('2d').getImageData(%d, %d, %d, %d)"
                         ".data; let s = ''; for (let i = 0; i < d.length; i += 8192) s += String.fromCharCode("
                         "...d.subarray(i, i + 8192)); return btoa(s) })()"
                         % (json.dumps(selector), x, y, width, height))
        return base64.b64decode(text)

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


if __name__ == "__main__":
    if not find():
        sys.exit("no Chromium: install chromium, or set TXM_CHROMIUM")
    print(find())
