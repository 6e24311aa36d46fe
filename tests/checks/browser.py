"""browser.py - Chromium without a screen, driven by chromedriver over plain
HTTP (the W3C WebDriver protocol); nothing but the standard library."""
import base64
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"down": "\ue015", "up": "\ue013", "enter": "\ue007", "tab": "\ue004",
        "right": "\ue014", "escape": "\ue00c", "space": "\ue00d"}


class Browser:
    def __init__(self):
        self.home = tempfile.TemporaryDirectory(prefix="lapis-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
            env=dict(os.environ, HOME=self.home.name))
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        port = None
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                port = found.group(1)
                break
        assert port, "chromedriver did not start"
        self.root = f"http://127.0.0.1:{port}/session"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu",
                            "--disable-dev-shm-usage", "--hide-scrollbars",
                            "--user-data-dir=" + self.home.name + "/user"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL",
                                        "performance": "ALL"}}
        got = self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.root += "/" + got["sessionId"]

    def close(self):
        try:
            if self.root.count("/") > 3:
                self.call("DELETE", "")
        except (AttributeError, OSError):
            pass
        self.driver.terminate()
        self.driver.wait()
        self.home.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.close()

    def call(self, verb, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.root + path, data, {"Content-Type": "application/json"},
            method=verb)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as refused:
            raise AssertionError(refused.read().decode()) from None

    # ---- what a person does
    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *args):
        return self.call("POST", "/execute/sync",
                         {"script": script, "args": list(args)})

    def find(self, css):
        return self.call("POST", "/element", {"using": "css selector",
                                              "value": css})[ELEMENT]

    def click(self, css):
        self.call("POST", f"/element/{self.find(css)}/click", {})

    def text(self, css):
        return self.call("GET", f"/element/{self.find(css)}/text")

    def press(self, *keys):
        """Keys by name or as they are, to whatever has the focus."""
        steps = []
        for key in keys:
            value = KEYS.get(key, key)
            steps += [{"type": "keyDown", "value": value},
                      {"type": "keyUp", "value": value}]
        self.call("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": steps}]})

    def point_at(self, css):
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0,
                "origin": {ELEMENT: self.find(css)}}
        self.run("document.querySelector(arguments[0])"
                 ".scrollIntoView({block: 'center', behavior: 'instant'})",
                 css)
        self.call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse",
             "parameters": {"pointerType": "mouse"}, "actions": [move]}]})

    # ---- what only a browser's own protocol can do
    def tell(self, command, **params):
        return self.call("POST", "/goog/cdp/execute",
                         {"cmd": command, "params": params})

    def look(self, width, scheme, height=900):
        self.tell("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 500)
        self.tell("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def shot(self, path):
        size = self.run("return [document.documentElement.scrollWidth,"
                        "document.documentElement.scrollHeight]")
        png = self.tell("Page.captureScreenshot", captureBeyondViewport=True,
                        clip={"x": 0, "y": 0, "width": size[0],
                              "height": size[1], "scale": 1})["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(png))

    def pdf(self):
        return base64.b64decode(self.tell("Page.printToPDF")["data"])

    def complaints(self):
        """What the browser logs, and names that two landmarks share: who hears
        the page cannot tell these apart."""
        names = self.run("""
          const name = e => e.getAttribute("aria-label") ||
            document.getElementById(
              e.getAttribute("aria-labelledby"))?.textContent;
          return [...document.querySelectorAll(
            "section, nav, [role=region]")].map(name).filter(n => n);""")
        return (self.call("POST", "/se/log", {"type": "browser"})
                + [n for n in names if names.count(n) > 1])

    def fetched(self):
        """Every address that the browser asked for."""
        log = self.call("POST", "/se/log", {"type": "performance"})
        events = [json.loads(line["message"])["message"] for line in log]
        return [e["params"]["request"]["url"] for e in events
                if e["method"] == "Network.requestWillBeSent"]

    def downloads_to(self, folder):
        self.tell("Browser.setDownloadBehavior", behavior="allow",
                  downloadPath=folder)


def wait_until(happened, complaint, seconds=300):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, complaint
        time.sleep(0.05)
