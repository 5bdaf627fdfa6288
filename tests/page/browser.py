# SPDX-License-Identifier: BSD-2-Clause
"""A headless Chromium that opens pages: the Chrome DevTools Protocol over the browser's own pipe."""
import base64
import json
import os
import subprocess


class Failed(Exception):
    """The browser answered with an error."""


class Browser:
    """One page of a Chromium with a profile of its own; `faults` has what its console and its scripts complained of."""

    def __init__(self, directory, program="chromium", zone="UTC"):
        to_browser, self.send = os.pipe()
        self.receive, from_browser = os.pipe()

        def pipes():
            # The browser reads descriptor 3 and writes descriptor 4.
            source, target = os.dup(to_browser), os.dup(from_browser)
            os.dup2(source, 3)
            os.dup2(target, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--font-render-hinting=none", "--remote-debugging-pipe", f"--user-data-dir={directory}"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "TZ": zone})
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        self.faults, self.requests = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def message(self):
        """The next message of the browser."""
        while b"\0" not in self.buffer:
            more = os.read(self.receive, 1 << 20)
            if not more:
                raise Failed("the browser has ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def take(self, event):
        """Keeps an event, and notes what must not occur in a page."""
        method, values = event["method"], event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.faults.append(f"console.{values['type']}")
        elif method == "Log.entryAdded":
            self.faults.append(values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        self.events.append(method)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.send, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.take(answer)

    def view(self, width, height, dark=False, medium=""):
        """The size of the page in pixels, its colours, and "print" for the medium of a printer."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, place=""):
        """Opens a file at a place ("#..."); returns when its scripts have run."""
        self.visit("file://" + os.path.abspath(path) + place)

    def visit(self, url):
        """Opens an address; returns when its scripts have run."""
        self.events, self.faults, self.requests = [], [], []
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            answer = self.message()
            if "method" in answer:
                self.take(answer)

    def run(self, expression):
        """The value of a JavaScript expression, which the policy of the page does not concern."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def key(self, key):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def press(self, selector):
        """A click of the mouse on the middle of an element, or on what covers it."""
        x, y = self.run("(e => { e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect();"
                        "return [r.x + r.width / 2, r.y + r.height / 2]; })"
                        f"(document.querySelector({json.dumps(selector)}))")
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path, selector=None):
        """A picture of what is to be seen, or of one element."""
        area = {}
        if selector:
            box = self.run(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                           "return [r.x + scrollX, r.y + scrollY, r.width, r.height]; })()")
            area = {"clip": dict(zip(("x", "y", "width", "height"), box), scale=1), "captureBeyondViewport": True}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", **area)["data"]))

    def print(self, path):
        """The page as a PDF."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))

    def close(self):
        try:
            self.call("Browser.close")
        except (Failed, OSError):
            pass
        self.process.wait()
