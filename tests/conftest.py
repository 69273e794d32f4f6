"""What every test shares: how much chance there is in them, their order, and that they end."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ccperf.runs import backends

# The same examples in every run, so that a failure is always the change's. CI draws others each
# time, by a seed that it prints. To look for more: pytest --hypothesis-profile=explore
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile(
    "drawn",
    derandomize=False,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("drawn" if "CCPERF_TEST_SEED" in os.environ else "repeatable")

#: Seconds that files of tests take: processor time, or what they wait for if that is longer; each
#: machine keeps what it has found itself. Of files that take long only where a kernel is built
#: there is a second number, behind `_WITH_KERNEL`.
DURATIONS = Path(__file__).with_name("durations.json")
_WITH_KERNEL = " with a kernel"
_KEPT = "ccperf/durations"
#: Seconds that a test may take: then it fails, and says where it was.
DEADLINE_S = 420
#: One of so many sweeps is run, others by another `CCPERF_TEST_SEED`; all of them if it is not set.
_SWEEPS = "CCPERF_SWEEPS"
#: Names a file that is there as soon as nobody builds a kernel any more: `.ci/run` does beside the
#: tests. Files with tests of the kernel come last then, and wait, for so many seconds at most.
_KERNEL_COMES = "CCPERF_KERNEL_COMES"
KERNEL_S = 500
#: What a file is taken to take of which nobody knows: it is not to begin last.
UNKNOWN_S = 5.0
#: So many seconds a file may take that `--quick` has.
QUICK_S = 1.0
#: Seconds within which Python has to end after the last test.
LEAVING_S = 60


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test works in a folder of its own, which is empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def linux_kernel() -> None:
    """The test is skipped where no Linux kernel is built (`ccperf linux build`)."""
    if _KERNEL_COMES in os.environ:
        until = time.monotonic() + KERNEL_S
        while not Path(os.environ[_KERNEL_COMES]).exists() and time.monotonic() < until:
            time.sleep(0.2)
    if missing := backends.get("linux").available():
        pytest.skip(missing)


def pytest_addoption(parser: pytest.Parser) -> None:
    said = f"only files of tests that are known to take less than {QUICK_S:g} s, no marked ones"
    parser.addoption("--quick", action="store_true", help=said)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files that `--quick` has nothing of are not even imported."""
    if not config.getoption("quick") or not collection_path.match("test_*.py"):
        return None
    file = collection_path.relative_to(config.rootpath).as_posix()
    return None if _has_quick(file, config) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest files first, so that no core waits at the end for one that began last.

    Each file's tests stay together, in one process (`--dist loadfile`): they share what is made for
    them.
    """
    if config.getoption("quick"):
        _leave_out(config, items, [item for item in items if not _is_quick(item)])
    sweeps = [item for item in items if item.get_closest_marker("sweep")]
    step, seed = int(os.environ.get(_SWEEPS, "1")), int(os.environ.get("CCPERF_TEST_SEED", "0"))
    _leave_out(config, items, [item for i, item in enumerate(sweeps) if (i - seed) % step])
    if config.pluginmanager.hasplugin("timeout") and config.getoption("timeout") is None:
        for item in items:
            waits = KERNEL_S if _waits_for_kernel(item) else 0
            item.add_marker(pytest.mark.timeout(DEADLINE_S + waits))
    seconds = _known(config)
    waiting = {_file(item.nodeid) for item in items if _waits_for_kernel(item)}

    def place(item: pytest.Item) -> tuple[bool, float]:
        file = _file(item.nodeid)
        longest = max(seconds.get(file, UNKNOWN_S), seconds.get(file + _WITH_KERNEL, 0.0))
        return file in waiting, -longest

    items.sort(key=place)


def _leave_out(
    config: pytest.Config, items: list[pytest.Item], some: Sequence[pytest.Item]
) -> None:
    if left_out := {*some}:
        config.hook.pytest_deselected(items=some)
        items[:] = [item for item in items if item not in left_out]


def _waits_for_kernel(item: pytest.Item) -> bool:
    return _KERNEL_COMES in os.environ and "linux_kernel" in getattr(item, "fixturenames", ())


@cache
def _recorded() -> dict[str, float]:
    recorded: dict[str, float] = json.loads(DURATIONS.read_text())
    return recorded


def _found(config: pytest.Config) -> dict[str, float]:
    cache = _cache(config)
    found: dict[str, float] = cache.get(_KEPT, {}) if cache else {}
    return found


def _cache(config: pytest.Config) -> pytest.Cache | None:
    """None with `-p no:cacheprovider`."""
    return getattr(config, "cache", None)


def _known(config: pytest.Config) -> dict[str, float]:
    return {**_recorded(), **_found(config)}


def _has_quick(file: str, config: pytest.Config) -> bool:
    """What is recorded counts first: on a busy machine all files take long."""
    return {**_found(config), **_recorded()}.get(file, QUICK_S) < QUICK_S


def _is_quick(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    is_marked = marks & {"ns3", "slow", "sweep", "browser", "kernel"}
    return not is_marked and _has_quick(_file(item.nodeid), item.config)


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


class _Durations:
    """Adds up what the tests of each file take, and keeps it for the next time."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._of: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = _file(report.nodeid)
        self._of[file] = self._of.get(file, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        if not (cache := _cache(self._config)):
            return
        known = _known(self._config)
        # Of a file of which only some tests ran, that is not all.
        new = {
            file: round(max(took, known.get(file, 0.0) / 2), 1) for file, took in self._of.items()
        }
        cache.set(_KEPT, {**known, **new})


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # who is told of all tests
        config.pluginmanager.register(_Durations(config))
    # Cycles are rare. To look for them as often as Python does took a quarter of the time.
    gc.set_threshold(20_000, 20, 20)


def pytest_collection_finish() -> None:
    """What all tests are made of stays until the end: it is not searched for garbage again."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """A thread that a test has left must not keep the process: it is named instead."""
    faulthandler.dump_traceback_later(LEAVING_S, exit=True, file=sys.__stderr__)
