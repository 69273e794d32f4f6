"""The commands, and how a command line becomes an exit status."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from contextvars import copy_context
from importlib import import_module

from ccperf.base import interruption
from ccperf.cli import plain, spelling
from ccperf.cli.commands import COMMANDS
from ccperf.errors import CcperfError

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
        status = _called(arguments)
        if arguments[:1] == ["run"] and not {"--help", "-h"}.isdisjoint(arguments):
            _help_on_experiments(arguments[1:])
        sys.stdout.flush()
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


def _called(arguments: Sequence[str]) -> object:
    name, *words = arguments or [""]
    if name in COMMANDS:
        command = import_module(f"ccperf.cli.{name}").command
        if (plainly := plain.read(command, words)) is not None:
            # What a command declares (--ns3-source) holds for that command only.
            return copy_context().run(command, *plainly.words, **plainly.options)
    from ccperf.cli import whole

    return whole.call(arguments)


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
