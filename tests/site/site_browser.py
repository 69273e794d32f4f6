"""Headless Chromium, driven over a pipe by its DevTools protocol: no driver, no port, no package.

https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "chromium-headless-shell")
_TIMEOUT_S = 60.0


def executable() -> str | None:
    """Return the path of a Chromium; `CHROMIUM` names another one."""
    return next(filter(None, map(shutil.which, [os.environ.get("CHROMIUM", ""), *_NAMES])), None)


class Browser:
    """One page of a headless Chromium without a network; a context manager."""

    def __init__(self, path: str) -> None:
        # Helpers of the browser may still write to its profile when it has ended.
        self._profile = tempfile.TemporaryDirectory(
            prefix="ccperf-browser-", ignore_cleanup_errors=True
        )
        # Ends that the browser gets are out of the way of 3 and 4, where it wants them.
        read_commands, self._commands = _moved(os.pipe(), 0)
        self._answers, write_answers = _moved(os.pipe(), 1)
        # The browser reads its commands from descriptor 3 and answers on 4.
        command = (
            f'exec "$0" "$@" 3<&{read_commands} 4>&{write_answers} '
            f"{read_commands}<&- {write_answers}>&-"
        )
        arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            "--remote-debugging-pipe",
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        self._process = subprocess.Popen(
            ["bash", "-c", command, path, *arguments],
            pass_fds=[read_commands, write_answers],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        #: `(method, parameters)` of what the page reported since it was opened.
        self.events: list[tuple[str, dict[str, Any]]] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._commands)
        self._process.terminate()
        self._process.wait(10)
        os.close(self._answers)
        self._profile.cleanup()

    def open(self, page: Path, fragment: str = "") -> None:
        """Open a file and wait until it has loaded."""
        self.events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri() + fragment)
        self.wait_for("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; promises are waited for."""
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until a JavaScript expression is true; a page that goes meanwhile is no answer."""
        end = time.monotonic() + _TIMEOUT_S
        while True:
            try:
                if self.evaluate(expression):
                    return
            except RuntimeError as error:
                if "navigated" not in str(error):
                    raise
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.05)

    def size(self, width: int, height: int = 900) -> None:
        """Set the size of the window in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def media(self, media: str = "", **features: str) -> None:
        """Emulate a medium (`print`) and features such as `prefers_color_scheme="dark"`."""
        named = [{"name": name.replace("_", "-"), "value": v} for name, v in features.items()]
        self.call("Emulation.setEmulatedMedia", media=media, features=named)

    def screenshot(self, target: Path) -> None:
        """Write a picture of the whole page, PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        target.write_bytes(base64.b64decode(answer["data"]))

    def problems(self) -> list[str]:
        """Return what the page complained of: exceptions, errors, warnings, failed loads."""
        found = []
        for method, event in self.events:
            if method == "Runtime.exceptionThrown":
                found.append(event["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning"):
                found.append(str(event["args"]))
            elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
                found.append(event["entry"]["text"])
            elif method == "Network.loadingFailed":
                found.append(event["errorText"])
        return found

    def requested(self) -> list[str]:
        """Return the URL of everything the page asked for."""
        return [
            event["request"]["url"]
            for method, event in self.events
            if method == "Network.requestWillBeSent"
        ]

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append((answer["method"], answer["params"]))

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + _TIMEOUT_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            data = os.read(self._answers, 1 << 16)
            if not data:
                raise ConnectionError(f"Chromium ended with status {self._process.wait(10)}")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _moved(pipe: tuple[int, int], end: int) -> tuple[int, int]:
    ends = list(pipe)
    ends[end] = fcntl.fcntl(pipe[end], fcntl.F_DUPFD, 20)
    os.close(pipe[end])
    return ends[0], ends[1]
