"""What help says of a parameter of a command, and how it is spelt."""

from __future__ import annotations

from collections.abc import Sequence


class Parameter:
    """Stands in the annotation of a parameter; `plain` reads it, and `whole` tells cyclopts."""

    __slots__ = ("allow_leading_hyphen", "consume_multiple", "help", "names")

    def __init__(
        self,
        *,
        help: str = "",
        name: str | Sequence[str] = (),
        consume_multiple: bool = False,
        allow_leading_hyphen: bool = False,
    ) -> None:
        """Describe a parameter, under its own name if not given others.

        With `consume_multiple` a list takes all words that follow its option, and with
        `allow_leading_hyphen` words may look like options.
        """
        self.help = help
        self.names = (name,) if isinstance(name, str) else tuple(name)
        self.consume_multiple = consume_multiple
        self.allow_leading_hyphen = allow_leading_hyphen
