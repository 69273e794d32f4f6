"""The web site of a benchmark: static pages that open from a folder, without a network.

    site.build(["benchmark_TcpNewReno.db"], "site")

`build` reads the stores and writes the folder, `views` says what is on each page, `templates/` how
it looks as HTML. Nothing is loaded from elsewhere, and everything can be read without JavaScript.
"""

from __future__ import annotations

from ccperf.site.build import Built, build, play

__all__ = ["Built", "build", "play"]
