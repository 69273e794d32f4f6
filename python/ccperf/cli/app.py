"""The commands, and how a command line becomes an exit status."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from contextvars import copy_context
from typing import Any, cast

import cyclopts

from ccperf import __version__
from ccperf.base import interruption
from ccperf.cli import spelling
from ccperf.cli.examples import epilogue
from ccperf.errors import CcperfError


def _default(value: object) -> str | None:
    """What help says of a default: nothing, where that is nothing."""
    return None if value in ("", False, None) else str(value)


app = cyclopts.App(
    name="ccperf",
    help="Evaluate congestion control: as exact as ns-3, and many times faster.",
    version=__version__,
    # None shows nothing, whatever its type says.
    default_parameter=cyclopts.Parameter(negative=(), show_default=cast("Any", _default)),
    suppress_keyboard_interrupt=False,  # `invoke` says what it means
)

#: In the order of `--help`; each is the function `command` of the module of its name.
COMMANDS = {
    "bench": "Run the whole catalogue for algorithms under test, then build the site.",
    "run": "Run an experiment, a grid of its parameters, a plan or a scenario.",
    "new": "Write a template of your own algorithm, with a test.",
    "watch": "Run your algorithm again when its file is saved, and say what changed.",
    "exec": "Run a published ccperf command line, or one of ns-3's TCP and queue examples.",
    "list": "List experiments, algorithms, queue disciplines, metrics, figures, backends.",
    "show": "Explain an experiment, algorithm, queue discipline, metric or run.",
    "runs": "List the runs in a database.",
    "compare": "Compare algorithms, versions or runs, and say whether they really differ.",
    "score": "Rate an algorithm against another in one number.",
    "plot": "Draw the figures of runs.",
    "play": "Open a scenario in the browser and change its settings there.",
    "site": "Build the web site of one or more databases.",
    "export": "Export a database to Parquet, CSV or JSON.",
    "cite": "Write the paragraph on a run that a paper needs, and its citations.",
    "verify": "Compare with the published tables, or with real ns-3 packet by packet.",
    "diff": "Tell where two runs differ.",
    "doctor": "Say what is installed and which backends are usable.",
    "linux": "Build the Linux kernel that the backend linux runs.",
    "completion": "Print what bash, zsh or fish need to complete commands.",
}
for _order, (_name, _help) in enumerate(COMMANDS.items()):
    app.command(
        f"ccperf.cli.{_name}:command",
        name=_name,
        help=_help,
        help_epilogue=epilogue(_name),
        sort_key=_order,
    )


#: What they store is there even if nobody reads what they print.
_MAKES_RUNS = ("bench", "run", "exec", "score", "watch")
#: As of a program that SIGPIPE ends.
_BROKEN_PIPE = 128 + 13


def invoke(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status."""
    from ccperf.cli.output import called_with

    called_with(arguments)
    shown: set[str] = set()

    def show_once(message: Warning | str, *_: object, **__: object) -> None:
        from ccperf.cli.output import warn

        if str(message) not in shown:
            shown.add(str(message))
            warn(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show_once
        return _invoke(list(arguments))


def _invoke(arguments: list[str]) -> int:
    from ccperf.cli.output import note

    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    try:
        arguments = spelling.usual(arguments)
        # What a command declares (--ns3-source) holds for that command only.
        status = copy_context().run(
            app,
            list(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        if arguments[:1] == ["run"] and not {"--help", "-h"}.isdisjoint(arguments):
            _help_on_experiments(arguments[1:])
        sys.stdout.flush()
    except cyclopts.UnusedCliTokensError as error:
        note(f"error: {spelling.too_much(error.unused_tokens or [], arguments)}")
        return 2
    except cyclopts.CycloptsError as error:
        note(f"error: {error}")
        return 2
    except CcperfError as error:
        note(f"error: {spelling.as_typed(str(error), arguments)}")
        return error.exit_status
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return interruption.STATUS
    except BrokenPipeError:  # `ccperf list | head`: no mistake, but not all was said either
        if arguments[0] in _MAKES_RUNS:
            with contextlib.suppress(OSError):  # stderr may be that pipe, too
                note(
                    "error: nobody reads the output any more; what was finished is stored, "
                    "the same command makes the rest"
                )
        _discard_output()
        return 1 if arguments[0] in _MAKES_RUNS else _BROKEN_PIPE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        note(f"error: {where}{error.strerror or error}")
        _discard_output()
        # A name that no file can have is wrong usage; a disk that is full is not.
        return 2 if error.errno in (errno.ENAMETOOLONG, errno.EINVAL) else 1
    except Exception:  # Ctrl-C, which a library has taken for a mistake of its own
        if not interruption.is_noticed():
            raise
        print("stopped", file=sys.stderr)
        return interruption.STATUS
    return status if isinstance(status, int) else 0


def _help_on_experiments(words: Sequence[str]) -> None:
    """The parameters of an experiment are options, too, which no signature has."""
    from ccperf.cli.show import parameters_of
    from ccperf.experiments.catalogue import NAMED

    for word in words:
        if word in NAMED:
            print(f"\nParameters of {word}:\n\n{parameters_of(NAMED[word])}")


def _discard_output() -> None:
    """What is left to be written would fail again when Python ends."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
