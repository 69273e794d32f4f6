"""Building: what is written, what is left alone, and what is refused."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ccperf import site
from ccperf.errors import RunError, UsageError
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.result import Result
from ccperf.site.memory import place
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.present.figures import Figure


def run(seed: int, experiment: str | None = "aqm") -> Result:
    engine = backends.get("native")
    scenario = catalogue.get("aqm").scenario("TcpNewReno", stop_time="300ms", k="1", seed=seed)
    parameters = {"aut": "TcpNewReno", "k": "1", "qdisc": "FqCoDelQueueDisc"}
    return Result.of(
        scenario, engine.simulate(scenario), engine, experiment=experiment, parameters=parameters
    )


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A database with two runs."""
    path = tmp_path / "benchmark_TcpNewReno.db"
    with Store(path, "a") as store:
        store.add(run(1))
        store.add(run(2))
    return path


def of_the_site(folder: Path) -> list[Path]:
    """Every file, without what the build remembers for itself: it has times in it."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in of_the_site(folder)}


def times(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in of_the_site(folder)}


def test_a_second_build_writes_nothing(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    first = site.build([small], folder)
    assert first.index == folder / "index.html"
    assert first.runs == 2
    assert first.unchanged == first.removed == 0
    static = len(list((folder / "static").iterdir()))
    # Overviews with their index and other questions, the experiment's page and the algorithm's with
    # their data; the page of both seeds with its picture, its series, what it says as data, the
    # other's series.
    # Every site has a page to play with, and its scenario; the engine is among what is static.
    play = 2
    assert first.written == static + 6 + 2 + 2 + 6 + play
    before = times(folder)
    second = site.build([small], folder)
    assert (second.written, second.removed) == (0, 0)
    assert second.unchanged == first.written
    assert times(folder) == before


def test_two_builds_give_the_same_bytes(small: Path, tmp_path: Path) -> None:
    site.build([small], tmp_path / "one")
    site.build([small], tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_new_run_rewrites_only_what_mentions_it(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build([small], folder)
    before = times(folder)
    added = run(3)
    with Store(small, "a") as store:
        store.add(added)
    site.build([small], folder)
    after = times(folder)
    changed = {
        path.relative_to(folder).as_posix() for path in before if after[path] != before[path]
    }
    page = f"runs/{run(1).id}"
    assert changed == {
        ".ccperf-site",  # names the new file
        "index.html",
        "index.js",
        "fronts/cc-.js",
        "algorithms/TcpNewReno.html",
        "experiments/aqm.html",
        "experiments/aqm.js",
        f"{page}/index.html",
    }
    new = {path.relative_to(folder).as_posix() for path in after.keys() - before.keys()}
    assert new == {f"{page}/{added.id}.js"}


def test_a_run_that_is_gone_takes_its_series_along(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build([small], folder)
    gone = run(2).id
    with Store(small, "a") as store:
        store.delete(gone)
    built = site.build([small], folder)
    assert built.removed == 1
    assert not (folder / "runs" / run(1).id / f"{gone}.js").exists()


def test_a_page_that_is_gone_leaves_nothing(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build([small], folder)
    with Store(small, "a") as store:
        for seed in (1, 2):
            store.delete(run(seed).id)
    site.build([small], folder)
    assert not (folder / "runs").exists()
    assert not (folder / "experiments").exists()


def test_damaged_files_are_made_again(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build([small], folder)
    whole = contents(folder)
    page = folder / "runs" / run(1).id
    (page / "picture.svg").unlink()
    (page / "index.html").write_text("half a p")
    (folder / "static" / "site.css").unlink()
    site.build([small], folder)
    assert contents(folder) == whole


def test_an_interrupted_build_is_finished_by_the_next(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ccperf.present.figures import svg

    folder = tmp_path / "site"
    with Store(small, "a") as store:
        store.add(run(3, experiment="aqm_of_mine"))
    draw = svg.draw_all
    calls = 0

    def interrupted(figures: Sequence[tuple[Figure, svg.Detail]]) -> tuple[str, list[int]]:
        nonlocal calls
        calls += 1
        if calls == 2:  # on the second page
            raise KeyboardInterrupt
        return draw(figures)

    with monkeypatch.context() as patch:
        patch.setattr(svg, "draw_all", interrupted)
        with pytest.raises(KeyboardInterrupt):
            site.build([small], folder)
    site.build([small], folder)
    site.build([small], tmp_path / "other")
    assert contents(folder) == contents(tmp_path / "other")


def test_the_site_is_built_without_matplotlib(small: Path, tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from ccperf import site; print(site.build([sys.argv[1]], sys.argv[2]).runs)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, small, tmp_path / "site"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "2\n"


def test_what_is_there_is_not_made_again(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ccperf.present.figures import svg
    from ccperf.site import pages

    folder = tmp_path / "site"
    site.build([small], folder)

    def made(*_: object) -> str:
        raise AssertionError("a page was made again")

    with monkeypatch.context() as patch:
        patch.setattr(svg, "draw", made)
        patch.setattr(pages, "_page", made)
        built = site.build([small], folder)
    assert (built.written, built.removed) == (0, 0)


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + bytes(200)])
def test_a_damaged_memory_costs_time_only(small: Path, tmp_path: Path, damage: bytes) -> None:
    folder = tmp_path / "site"
    site.build([small], folder)
    before = contents(folder)
    place(folder).write_bytes(damage)
    built = site.build([small], folder)
    assert (built.written, built.removed) == (0, 0)
    assert contents(folder) == before


def test_a_memory_knows_no_paths(small: Path, tmp_path: Path) -> None:
    """A site is published as it stands."""
    site.build([small], tmp_path / "site")
    for path in (tmp_path / "site").rglob("*"):
        if path.is_file():
            assert str(tmp_path).encode() not in path.read_bytes(), path


def test_one_run_in_two_databases_has_one_page(small: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with Store(other, "a") as store:
        store.add(run(1))
    assert site.build([small, other], tmp_path / "site").runs == 2


def test_a_run_of_two_experiments_is_listed_by_both(tmp_path: Path) -> None:
    path = tmp_path / "both.db"
    with Store(path, "a") as store:
        store.add(run(1))
        store.add(run(1, experiment="aqm_of_mine"))
    folder = tmp_path / "site"
    assert site.build([path], folder).runs == 1
    page = (folder / "runs" / run(1).id / "index.html").read_text()
    assert "../../experiments/aqm.html" in page
    assert "../../experiments/aqm_of_mine.html" in page


def test_an_empty_database_gives_an_index_that_says_what_to_do(tmp_path: Path) -> None:
    Store(tmp_path / "empty.db", "a").close()
    built = site.build([tmp_path / "empty.db"], tmp_path / "site")
    assert "ccperf bench" in built.index.read_text()


def test_a_site_of_own_scenarios_only_does_not_say_that_there_are_no_runs(tmp_path: Path) -> None:
    scenario = catalogue.get("aqm").scenario("TcpNewReno", stop_time="300ms", k="1", seed=1)
    engine = backends.get("native")
    with Store(tmp_path / "own.db", "a") as store:
        store.add(Result.of(scenario, engine.simulate(scenario), engine))
    page = site.build([tmp_path / "own.db"], tmp_path / "site").index.read_text()
    assert "<title>ccperf: networks of your own</title>" in page
    assert "no runs" not in page.lower()


def test_a_folder_of_other_files_is_left_alone(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="holds files but no ccperf site"):
        site.build([small], folder)
    assert contents(folder) == {"thesis.tex": b"years of work"}


def test_what_others_put_into_the_folder_stays(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build([small], folder)
    page = folder / "runs" / run(1).id
    others = [folder / "CNAME", folder / ".git" / "HEAD", page / "notes.txt"]
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_text("mine")
    (folder / "linked").symlink_to(tmp_path)
    half = folder / f".new-{os.getpid()}.index.html"  # of a build that was killed
    half.write_text("<p>")
    with Store(small, "a") as store:
        for seed in (1, 2):
            store.delete(run(seed).id)
    assert site.build([small], folder).removed > 5
    assert [other.read_text() for other in others] == ["mine"] * 3
    assert (folder / "linked").is_symlink()
    assert [path.name for path in page.iterdir()] == ["notes.txt"]
    assert not half.exists()


def test_names_that_lead_out_of_the_folder_remove_nothing(small: Path, tmp_path: Path) -> None:
    site.build([small], tmp_path / "site")
    (tmp_path / "kept.txt").write_text("mine")
    (tmp_path / "site" / "out").symlink_to(tmp_path)
    with (tmp_path / "site" / ".ccperf-site").open("a") as marker:
        marker.write(f"../kept.txt\n{tmp_path}/kept.txt\nout/kept.txt\nruns\n")
    site.build([small], tmp_path / "site")
    assert (tmp_path / "kept.txt").exists()


def test_a_folder_whose_note_a_killed_build_did_not_finish_gets_it(
    small: Path, tmp_path: Path
) -> None:
    site.build([small], tmp_path / "whole")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / ".ccperf-site").touch()
    site.build([small], tmp_path / "site")
    assert contents(tmp_path / "site") == contents(tmp_path / "whole")


def test_a_file_in_the_place_of_the_folder_is_refused(small: Path, tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file")
    with pytest.raises(UsageError, match="cannot be written"):
        site.build([small], tmp_path / "site")


def test_a_disk_that_is_full_is_no_wrong_usage(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(RunError, match="site: cannot be written: No space left"):
        site.build([small], tmp_path / "site")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(small: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(UsageError, match="cannot be written"):
        site.build([small], tmp_path / "closed" / "site")


def test_a_database_that_is_not_ours_is_refused_before_anything_is_written(
    small: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes.db").write_text("not a database")
    with pytest.raises(UsageError, match=r"notes\.db"):
        site.build([small, tmp_path / "notes.db"], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_progress_counts_the_runs(small: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    site.build([small], tmp_path / "site", progress=lambda *done: seen.append(done))
    assert seen == [(2, 2)]  # both are on one page
