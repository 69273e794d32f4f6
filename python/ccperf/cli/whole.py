"""The whole command line, by cyclopts: help, completion, mistakes, what `plain` does not read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from operator import getitem
from typing import Annotated, Any, cast, get_args, get_origin

import cyclopts

from ccperf import __version__
from ccperf.base.consoles import console
from ccperf.cli import plain, spelling
from ccperf.cli.commands import COMMANDS
from ccperf.cli.examples import epilogue
from ccperf.cli.output import note
from ccperf.cli.parameter import Parameter


def _default(value: object) -> str | None:
    """What help says of a default: nothing, where that is nothing."""
    return None if value is False or value in ("", None) else str(value)


app = cyclopts.App(
    name="ccperf",
    help="Evaluate congestion control: as exact as ns-3, and many times faster.",
    version=__version__,
    # None shows nothing, whatever its type says.
    default_parameter=cyclopts.Parameter(negative=(), show_default=cast("Any", _default)),
    suppress_keyboard_interrupt=False,  # `app.invoke` says what it means
)


def __getattr__(name: str) -> Callable[..., object]:
    """The command of this name; cyclopts asks for the one that it is to call."""
    if name not in COMMANDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    command: Callable[..., object] = import_module(f"ccperf.cli.{name}").command
    _annotate(command)
    return command


def _annotate(described: Any) -> None:
    """Say to cyclopts, too, what the annotations of a command, or of a group of options, say."""
    hints = plain.hints_of(described)
    described.__annotations__ = {name: _annotation(hint) for name, hint in hints.items()}


def _annotation(hint: Any) -> Any:
    for group in (each for each in get_args(hint) if is_dataclass(each)):
        _annotate(group)
        cyclopts.Parameter(name="*")(group)
    if get_origin(hint) is not Annotated:
        return hint
    kind, *notes = get_args(hint)
    if not any(isinstance(note, cyclopts.Parameter) for note in notes):
        notes += [_of_cyclopts(note, kind) for note in notes if isinstance(note, Parameter)]
    return getitem(Annotated, (kind, *notes))


def _whole(_: type, tokens: Sequence[cyclopts.Token]) -> int:
    """A whole number as it is written; cyclopts rounds others."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"`{tokens[0].value}` is not a whole number") from None


def _of_cyclopts(parameter: Parameter, kind: object) -> cyclopts.Parameter:
    return cyclopts.Parameter(
        converter=_whole if kind is int else None,
        name=parameter.names or None,
        help=parameter.help,
        consume_multiple=parameter.consume_multiple or None,
        allow_leading_hyphen=parameter.allow_leading_hyphen,
    )


for _order, (_name, _help) in enumerate(COMMANDS.items()):
    app.command(
        f"{__name__}:{_name}",
        name=_name,
        help=_help,
        help_epilogue=epilogue(_name),
        sort_key=_order,
    )


def call(arguments: Sequence[str]) -> object:
    """Do what a command line says, and return what its command does; 2 if that cannot be meant."""
    app.console = console()
    try:
        # What a command declares (--ns3-source) holds for that command only.
        return copy_context().run(
            app,
            list(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except cyclopts.UnusedCliTokensError as error:
        command = import_module(f"ccperf.cli.{arguments[0]}").command
        takes_several = partial(plain.takes_several, command)
        unused = error.unused_tokens or []
        has_databases = plain.takes(command, "--db")
        said = spelling.too_much(unused, arguments, takes_several, has_databases=has_databases)
        note(f"error: {said}")
    except cyclopts.CycloptsError as error:
        note(f"error: {error}")
    return 2
