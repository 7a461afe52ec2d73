"""A headless Chromium with one page, driven through its debugging pipe."""

import base64
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
]
KEYS = {"Enter": (13, "\r"), " ": (32, " "), "Escape": (27, ""), "Tab": (9, ""),
        "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, "")}


def find_chromium():
    """The path of a Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """Use it in a `with`; the browser ends with it."""

    def __init__(self, width=1280, height=800):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()

        def connect():  # the browser reads descriptor 3 and writes descriptor 4
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [find_chromium(), *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"],
            preexec_fn=connect, pass_fds=(3, 4), stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._read = b""
        self._last = 0
        self._session = None
        self.problems = []  # exceptions and requests that the page should not have
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network"]:
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._session = None
        try:
            self.call("Browser.close")
        except EOFError:
            pass
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def _receive(self):
        while b"\0" not in self._read:
            part = os.read(self._from, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self._read += part
        message, self._read = self._read.split(b"\0", 1)
        message = json.loads(message)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        if method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("file:", "about:", "data:")):
                self.problems.append("requested " + url)
        return message

    def call(self, method, **parameters):
        """Calls a method of the protocol and returns its result."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data):]
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, path, scheme="light"):
        """Loads a file; its script has run when this returns."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while self._receive().get("method") != "Page.loadEventFired":
            pass

    def run(self, script):
        """The value of an expression, promises awaited."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def text(self, selector):
        """What an element shows, without empty lines."""
        shown = self.run(f"document.querySelector({json.dumps(selector)}).innerText")
        return "\n".join(line for line in shown.split("\n") if line)

    def click(self, x, y, count=1):
        for number in range(1, count + 1):
            for kind in ["mousePressed", "mouseReleased"]:
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                          clickCount=number)

    def click_on(self, selector, text=""):
        """Clicks the middle of the first element that holds a text."""
        x, y = self.run("""(() => {
          const found = [...document.querySelectorAll(%s)].find((e) => e.innerText.includes(%s));
          found.scrollIntoView({block: "center"});
          const box = found.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        })()""" % (json.dumps(selector), json.dumps(text)))
        self.click(x, y)

    def press(self, key):
        code, text = KEYS[key]
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text,
                  windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def point_of(self, text):
        """Where on the tree map the tip of the pointer begins with a text; None: nowhere."""
        return self.run("""(() => {
          const canvas = document.getElementById("canvas");
          const tip = document.getElementById("tip");
          const box = canvas.getBoundingClientRect();
          let found = null;
          for (let y = 2; y < box.height && !found; y += 5) {
            for (let x = 2; x < box.width && !found; x += 5) {
              const [clientX, clientY] = [Math.round(box.x + x), Math.round(box.y + y)];
              canvas.dispatchEvent(new PointerEvent("pointermove", {clientX, clientY}));
              if (!tip.hidden && tip.textContent.startsWith(%s)) found = [clientX, clientY];
            }
          }
          canvas.dispatchEvent(new PointerEvent("pointerleave"));
          return found;
        })()""" % json.dumps(text))

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
