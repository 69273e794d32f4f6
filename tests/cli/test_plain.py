"""What is read without cyclopts is what cyclopts reads: the same words call a command alike."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Optional

import cyclopts
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccperf.cli import plain, spelling
from ccperf.cli.app import invoke
from ccperf.cli.commands import COMMANDS
from ccperf.cli.examples import EXAMPLES
from ccperf.cli.parameter import Parameter
from ccperf.cli.whole import app
from ccperf.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Of any kind: names, numbers, values that look like options, and what belongs to nothing.
WORDS = (
    *(
        "aqm",
        "cubic,bbr",
        "1",
        "01",
        "+1",
        "1.5",
        "1e3",
        "0x10",
        "1_000",
        "a.toml",
        "./a/../b",
        "~",
    ),
    *("json", "cc", "build", "ns3", "python", "bash", "true", "no", "a=b", "ä", " ", "x y"),
    *("-", "--", "-1", "-n", "-j", "-j4", "-o", "-x", "-h", "-nj", "--help", "--version"),
    *("--k", "--ce-threshold", "--ce_threshold", "--K", "--no-json", "--empty-json", "--k=1"),
    *("--json=true", "--json=false", "--jobs=2", "--jobs=-2", "--db=a.db", "--running", "--cc.x"),
)
#: Lines as people write them.
USUAL = (
    "run ecn --cc TcpNewReno --k 1 --ce-threshold 1ms --json --db runs.db",
    "run aqm --cc cubic,bbr --seed 1..10 --jobs 2 --no-such=1",
    "run two_hops.toml -n --trust",
    "bench cubic --experiments ecn,aqm --seed 1..10 -o folder --no-site",
    "list qdisc --json",
    "show cc cubic",
    "runs --db a.db --db b.db --k 1,5",
    "compare cubic bbr --metric all --format csv",
    "export --db a.db --format tidy",
    "site --db a.db b.db -o public",
    "verify ns3 --fuzz 100 --seed 3 --ns3 folder",
    "doctor",
)


def of_cyclopts(words: Sequence[str]) -> plain.Call | None:
    """What cyclopts would call, None if it refuses or asks for more than a call."""
    try:
        command, bound, *_ = app.parse_args(list(words), exit_on_error=False, print_error=False)
    except (cyclopts.CycloptsError, UsageError):
        return None
    if getattr(command, "__name__", "") != "command":
        return None
    return plain.Call(list(bound.args), dict(bound.kwargs))


def of_plain(words: Sequence[str]) -> plain.Call | None:
    try:
        return plain.read(import_module(f"ccperf.cli.{words[0]}").command, words[1:])
    except UsageError:  # of a group's name, or of options in one that contradict each other
        return None


def free(call: plain.Call, command: str) -> list[str]:
    """Options that no signature has, in their order."""
    known = signature(import_module(f"ccperf.cli.{command}").command).parameters
    return [name for name in call.options if name not in known]


def examples() -> list[str]:
    """Those of the commands' help, without the shell around them."""
    lines = (re.split("ccperf |[)|#]", line)[1] for of in EXAMPLES.values() for line in of)
    return [line.strip() for line in lines]


def options(command: str) -> list[str]:
    return [
        name for argument in app[command].assemble_argument_collection() for name in argument.names
    ]


@settings(max_examples=600)
@given(st.data())
def test_what_is_read_here_cyclopts_reads_alike(data: Any) -> None:
    command = data.draw(st.sampled_from([*COMMANDS]))
    word = st.sampled_from([*WORDS, *options(command)])
    try:
        words = spelling.usual([command, *data.draw(st.lists(word, max_size=7))])
    except UsageError:
        return
    found = of_plain(words)
    if found is None:
        return
    theirs = of_cyclopts(words)
    assert theirs is not None
    assert found == theirs
    # Parameters of an experiment are a grid, whose last one varies fastest.
    assert free(found, command) == free(theirs, command)


@pytest.mark.parametrize("line", ["--running aqm", "--sandbox --running=aqm", "--x.y --running 1"])
def test_a_group_of_options_is_no_option(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its parameter would have the word, and the command a traceback."""
    assert invoke(["run", "aqm", *shlex.split(line)]) == 2
    assert "--running: there is no such option" in capsys.readouterr().err


@pytest.mark.parametrize("line", [*USUAL, *examples()])
def test_usual_lines_are_read_here(line: str) -> None:
    words = spelling.usual(shlex.split(line))
    # What follows `--` may look like anything, and a list may take what follows it.
    is_left = " -- " in line or " --db a.db b.db " in line
    assert of_plain(words) == (None if is_left else of_cyclopts(words))


def test_what_is_said_of_an_option_is_found_where_python_3_10_puts_it() -> None:
    """It puts `Optional` around the hints of what has None for a default."""
    said = Annotated[list[Path] | None, Parameter(help="Databases.")]
    for hint in (said, Optional[said]):  # noqa: UP045
        assert plain.hints_of(SimpleNamespace(__annotations__={"db": hint}))["db"] == said


def test_a_usual_line_loads_no_library_to_be_read() -> None:
    program = (
        "import sys; from ccperf.cli.app import invoke; invoke(['list', 'cc', '--json']);"
        "sys.exit('cyclopts' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == 0
