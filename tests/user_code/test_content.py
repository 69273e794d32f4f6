"""A result belongs to the code that made it, wherever that lies and whoever edits it meanwhile."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ccperf import campaign
from ccperf.algorithms.user_code import names
from ccperf.algorithms.user_code.content import ChangedError, Contents
from ccperf.campaign import Point
from ccperf.campaign.outcome import Failed
from ccperf.cli.app import invoke
from ccperf.runs.backends import get
from ccperf.runs.backends.native import Native
from ccperf.runs.result import Result, identify
from ccperf.store import Store
from user_scenarios import EXAMPLES, scenario, with_qdisc

AIMD = (
    "import time\nimport ccperf\n\n"
    "class Aimd(ccperf.CongestionControl):\n"
    "    def ssthresh(self, tcb, bytes_in_flight):\n"
    "        return max(int({beta} * bytes_in_flight), 2 * tcb.segment_size)\n"
)


def aimd(folder: Path, beta: float) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / "aimd.py"
    path.write_text(AIMD.format(beta=beta))
    return f"{path}:Aimd"


class EditedOnTheWay(Native):
    """The engine, with somebody who edits a file between the id and the loading of the code."""

    def __init__(self, edit: Any) -> None:
        self._edit = edit

    def simulate(self, *args: Any, **kwargs: Any) -> Any:
        self._edit()
        return super().simulate(*args, **kwargs)


def test_a_file_edited_before_it_is_loaded_ends_the_campaign(tmp_path: Path) -> None:
    name = aimd(tmp_path, 0.3)
    points = [Point(scenario(name, seed=seed)) for seed in range(1, 6)]
    backend = EditedOnTheWay(lambda: aimd(tmp_path, 0.9))
    with Store(tmp_path / "x.db", "a") as store:
        report = campaign.run(points, store, backend, jobs=1)
        assert store.runs() == []
    assert not report.ok
    assert isinstance(report.changed, ChangedError)
    assert str(report.changed).startswith("aimd.py:Aimd has changed since this command began")


def test_another_process_says_of_an_edited_file_what_this_one_says() -> None:
    error = ChangedError("./aimd.py:Aimd")
    there = Failed.of(error).error()
    assert isinstance(there, ChangedError)
    assert (str(there), there.name) == (str(error), error.name)


def test_a_file_edited_during_a_run_changes_neither_its_result_nor_its_id(tmp_path: Path) -> None:
    """As measured: the old code's numbers were stored under the new code's id."""
    path = tmp_path / "aimd.py"
    slow = AIMD.format(beta=0.3) + (
        "    def init(self, tcb):\n"
        f"        open({str(tmp_path / 'begun')!r}, 'w').close()\n"
        "        time.sleep(0.5)\n"
    )
    path.write_text(slow)
    before = identify(scenario(f"{path}:Aimd"), get("native")).id

    def edit(_fraction: float) -> None:
        if (tmp_path / "begun").exists():
            path.write_text(AIMD.format(beta=0.9))

    point = Point(scenario(f"{path}:Aimd"))
    result = campaign.simulate(point, get("native"), edit)
    assert path.read_text() == AIMD.format(beta=0.9)
    assert result.id == before
    path.write_text(slow)
    assert result.recording.equals(get("native").simulate(point.scenario))


def test_what_python_compiled_before_an_edit_is_not_run(tmp_path: Path) -> None:
    """Python takes a compiled file for fresh if size and second of the source are the same."""
    name = aimd(tmp_path, 0.3)
    path = tmp_path / "aimd.py"
    stamp = time.time_ns()
    os.utime(path, ns=(stamp, stamp))
    first = get("native").simulate(scenario(name))
    aimd(tmp_path, 0.9)
    os.utime(path, ns=(stamp, stamp))
    second = get("native").simulate(scenario(name))
    assert not first.equals(second)
    assert list(tmp_path.rglob("*.pyc")) == []


def beside(folder: Path, beta: float) -> str:
    """A class whose parameter comes from a module of a package, by way of a module beside it."""
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    (folder / "parts" / "__init__.py").write_text("from .number import BETA\n")
    (folder / "parts" / "number.py").write_text(f"BETA = {beta}\n")
    (folder / "helper.py").write_text("import parts\n\nBETA = parts.BETA\n")
    (folder / "mine.py").write_text(
        "import random\nimport ccperf\nfrom helper import BETA\n\n"
        "class Mine(ccperf.CongestionControl):\n"
        "    def ssthresh(self, tcb, bytes_in_flight):\n"
        "        return max(int(BETA * bytes_in_flight), 2 * tcb.segment_size)\n"
    )
    return f"{folder / 'mine.py'}:Mine"


def test_what_a_file_imports_from_beside_it_is_part_of_its_version(tmp_path: Path) -> None:
    def made(beta: float, folder: str = "one") -> Result:
        # Within a second and of the same length: what Python has compiled looks up to date.
        point = Point(scenario(beside(tmp_path / folder, beta)))
        with Store(tmp_path / "x.db", "a") as store:
            report = campaign.run([point], store, get("native"), jobs=1)
            assert report.ok
            return store.load(report.of_points[0])

    one, other, again, elsewhere = made(0.3), made(0.9), made(0.3), made(0.3, "two")
    assert one.id == again.id == elsewhere.id != other.id
    assert one.metrics.flow != other.metrics.flow
    alone = aimd(tmp_path, 0.3)
    whole = Path(alone.rpartition(":")[0]).read_bytes()
    assert Contents().of({alone: ""}) == {alone: hashlib.sha256(whole).hexdigest()}


def test_what_is_imported_by_a_computed_name_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no part of the version: an edit of it makes no new run."""
    name = beside(tmp_path, 0.3)
    mine = tmp_path / "mine.py"
    point = ["--k", "1", "--qdisc", "codel", "--stop-time", "100ms", "--db", str(tmp_path / "x.db")]
    assert invoke(["run", "aqm", "--cc", name, *point]) == 0
    assert "warning" not in capsys.readouterr().err
    assert invoke(["run", "aqm", "--cc", "ccperf.algorithms:CongestionControl", *point]) == 0
    assert "warning" not in capsys.readouterr().err  # though ccperf's modules import each other
    text = mine.read_text().replace("from helper import BETA", "import importlib")
    mine.write_text(f"{text}\nBETA = importlib.import_module('help' + 'er').BETA\n")
    assert invoke(["run", "aqm", "--cc", name, *point]) == 0
    err = capsys.readouterr().err
    assert "warning: helper.py is imported by a computed name: an edit of it makes no new" in err


def test_a_module_beside_that_is_edited_before_it_is_loaded_ends_the_campaign(
    tmp_path: Path,
) -> None:
    backend = EditedOnTheWay(lambda: beside(tmp_path, 0.9))
    with Store(tmp_path / "x.db", "a") as store:
        report = campaign.run([Point(scenario(beside(tmp_path, 0.3)))], store, backend, jobs=1)
        assert store.runs() == []
    assert isinstance(report.changed, ChangedError)


def test_a_library_written_to_before_it_is_loaded_ends_the_run(
    tmp_path: Path, c_library: str
) -> None:
    library = tmp_path / "libmine.so"
    shutil.copy(c_library, library)
    content = Contents().of({str(library): ""})

    def edit() -> None:
        with library.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(b"\0")

    with pytest.raises(ChangedError, match=r"libmine\.so has changed"):
        EditedOnTheWay(edit).simulate(scenario(str(library)), user_code=content)


def test_a_store_finds_runs_by_user_code_wherever_its_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    name = aimd(tmp_path, 0.3)
    point = ["--k", "1", "--qdisc", "codel", "--stop-time", "100ms", "--db", str(tmp_path / "x.db")]
    assert invoke(["run", "aqm", "--cc", f"{name},cubic", *point]) == 0
    with Store(tmp_path / "x.db") as store:
        for folder in (tmp_path, tmp_path / "elsewhere"):
            monkeypatch.chdir(folder)
            for given in ("aimd.py:Aimd", "./aimd.py:Aimd", name):
                assert len(store.runs(cc=given)) == 1
                assert len(store.runs(under_test=given)) == 1
        assert store.runs(cc="other.py:Aimd") == []


def test_the_id_does_not_depend_on_the_place(tmp_path: Path) -> None:
    native = get("native")
    here, there = (aimd(tmp_path / folder, 0.3) for folder in ("here", "there"))
    assert identify(scenario(here), native).id == identify(scenario(there), native).id
    assert scenario(here).hash == scenario(there).hash
    edited = aimd(tmp_path / "there", 0.9)
    assert identify(scenario(here), native).id != identify(scenario(edited), native).id


def test_two_versions_in_one_scenario_stay_apart(tmp_path: Path) -> None:
    old, new = aimd(tmp_path / "old", 0.3), aimd(tmp_path / "new", 0.9)
    data = scenario(old).model_dump()
    data["flows"][1]["cc"]["type"] = new
    both = scenario(old).model_validate(data)
    flows = both.portable()["flows"]
    assert [flow["cc"]["type"] for flow in flows] == [
        "old/aimd.py:Aimd",
        "new/aimd.py:Aimd",
        "old/aimd.py:Aimd",
    ]
    swapped = json.loads(json.dumps(data).replace(old, "?").replace(new, old).replace("?", new))
    assert (
        identify(both, get("native")).id != identify(both.model_validate(swapped), get("native")).id
    )


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("/home/ann/cca/aimd.py:Aimd", "aimd.py:Aimd"),
        ("/home/ann/own/../cca/aimd.py:Aimd", "aimd.py:Aimd"),
        ("/home/ann/libmycca.so", "libmycca.so"),
        ("package.module:Aimd", "package.module:Aimd"),
        ("/a/my-cca.cc:/a/b/util.cc:TcpMine", "my-cca.cc:util.cc:TcpMine"),
        ("TcpCubic", "TcpCubic"),
        ("ns3::TcpCubic", "ns3::TcpCubic"),
    ],
)
def test_labels(name: str, label: str) -> None:
    assert names.label(name) == label
    assert names.label(label) == label


def test_no_path_reaches_the_database_or_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A queue discipline in a scenario file, and a congestion control of the catalogue."""
    monkeypatch.chdir(tmp_path)
    name = aimd(tmp_path / "secret-place", 0.5)
    options = ["--k", "1", "--qdisc", "codel", "--stop-time", "200ms", "--db", "x.db"]
    assert invoke(["run", "aqm", "--cc", name, *options]) == 0
    queue = with_qdisc(f"{EXAMPLES}/python/myqdisc.py:MyQueue", cc=name)
    with Store("x.db", "a") as store:
        store.add(campaign.simulate(Point(queue), get("native")))
        found = store.runs()
        loaded = [store.load(run.id) for run in found]
    assert found[0].title == "aqm aut=aimd.py:Aimd k=1 qdisc=CoDelQueueDisc"
    assert found[0].cc == ("aimd.py:Aimd",)
    assert set(loaded[0].provenance.user_code) == {"aimd.py:Aimd"}
    assert set(loaded[1].provenance.user_code) == {"aimd.py:Aimd", "myqdisc.py:MyQueue"}
    assert loaded[1].scenario.links[1].forward.qdisc is not None
    assert loaded[1].scenario.links[1].forward.qdisc.type == "myqdisc.py:MyQueue"
    assert invoke(["site", "build", "--db", "x.db"]) == 0
    capsys.readouterr()
    assert invoke(["runs", "--db", "x.db"]) == 0
    assert str(tmp_path) not in capsys.readouterr().out
    files = [Path("x.db"), *(file for file in Path("site").rglob("*") if file.is_file())]
    assert len(files) > 10
    for file in files:
        assert b"secret-place" not in file.read_bytes(), file
        assert str(EXAMPLES).encode() not in file.read_bytes(), file
    page = Path(f"site/runs/{found[0].id}/index.html").read_text()
    assert "--algs=aimd.py:Aimd" in page.replace("<wbr>", "")


def test_a_run_of_the_database_runs_again_where_its_file_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = campaign.simulate(Point(scenario(aimd(tmp_path, 0.5))), get("native"))
    with Store(tmp_path / "x.db", "a") as store:
        store.add(made)
        loaded = store.load(made.id)
    monkeypatch.chdir(tmp_path)
    assert identify(loaded.scenario, get("native")).id == made.id
    assert get("native").simulate(loaded.scenario).equals(made.recording)


def test_a_database_of_before_loses_its_paths_when_it_is_read(tmp_path: Path) -> None:
    result: Result = campaign.simulate(
        Point(scenario(aimd(tmp_path, 0.5)), "aqm", {"aut": "TcpCubic"}), get("native")
    )
    with Store(tmp_path / "x.db", "a") as store:
        store.add(result)
    absolute = "/home/ann/cca/aimd.py:Aimd"
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        db.execute("UPDATE run SET scenario = replace(scenario, 'aimd.py:Aimd', ?)", (absolute,))
        db.execute("UPDATE run SET content = NULL, checksum = NULL")
        db.execute("UPDATE point SET checksum = NULL")
        db.execute("UPDATE flow SET cc = ?", (absolute,))
        db.execute("UPDATE point SET parameters = ?", (json.dumps({"aut": absolute}),))
        db.commit()
    with Store(tmp_path / "x.db", "r") as store:
        (row,) = store.runs()
        assert row.cc == ("aimd.py:Aimd",)
        assert row.parameters == {"aut": "aimd.py:Aimd"}
        assert "/home/ann" not in json.dumps(store.load(result.id).json())
