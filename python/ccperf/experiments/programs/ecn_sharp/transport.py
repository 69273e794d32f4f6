"""How the hosts of the programs speak TCP, and the sizes of what they send."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf.algorithms import registry
from ccperf.errors import UsageError
from ccperf.scenario import profiles

if TYPE_CHECKING:
    from ccperf.experiments.programs.program import Defaults, Values

#: Payload of a segment, in bytes.
SEGMENT: int = profiles.tcp("ns3-ecn-sharp")["SegmentSize"]
#: The files that the programs come with, by the end of their names.
_SIZES: Mapping[str, str] = {
    "DCTCP_CDF.txt": "WebSearch",
    "VL2_CDF.txt": "DataMining",
    "FB_CDF.txt": "Facebook",
}


def stack(
    name: str,
    values: Values,
    defaults: Defaults,
    initial_window: int = 10,
    dctcp: str = "TcpDctcp",
    **own: Any,
) -> dict[str, Any]:
    """A way to speak TCP as the programs set it: no delayed ACKs, no SACK, ECN, timers of
    milliseconds, buffers that never limit. `dctcp`: what DcTcp is."""
    window = defaults.given("TcpSocket", "InitialCwnd", initial_window)
    return {
        "name": name,
        "cc": defaults.cc(_congestion_control(values, dctcp)),
        "recovery": "TcpClassicRecovery",
        "tcp": defaults.tcp(**profiles.tcp("ns3-ecn-sharp", InitialCwnd=window, **own)),
    }


def sizes(option: str, name: str) -> dict[str, Any] | str:
    """The sizes of a CDF file: read where there is one, else one of those that the programs have.

    Raises:
        UsageError: if there is neither.
    """
    path = Path(name)
    if path.is_file():
        return {"type": "Cdf", "file": str(path.absolute())}
    known = _SIZES.get(path.name)
    if known is None:
        message = f"`{name}` is not there; name a file, or one of {', '.join(_SIZES)}"
        raise UsageError(option, message)
    return known


def seed(values: Values, rng_run: int) -> int:
    """The seed of all that is drawn; the clock, which 0 asks for, is not asked."""
    return int(values["randomSeed"]) or rng_run


def notes(values: Values) -> list[str]:
    """What is to be said about the options that all programs have."""
    if values["randomSeed"] == 0:
        return ["--randomSeed=0 takes the clock in the original; here --RngRun, so that it repeats"]
    return []


def _congestion_control(values: Values, dctcp: str) -> str:
    given = values["transportProt"]
    known = {"DcTcp": dctcp, "Tcp": "TcpNewReno"}
    if given in known:
        return known[given]
    try:
        return registry.resolve("cc", given)
    except ValueError as error:
        message = error.message if isinstance(error, UsageError) else str(error)
        raise UsageError("--transportProt", registry.with_words(message, given, known)) from None
