"""What stands before a link in the programs: the disciplines that they name, and their thresholds.

Each program's options have the thresholds of some of these; what a program has no option for keeps
the discipline's own defaults, or takes ``--ns3::Class::Attribute=value``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ccperf.algorithms import registry
from ccperf.errors import UsageError
from ccperf.experiments.programs.program import Defaults, Values, time

#: The programs' words, and ours; a discipline's own name does as well.
WORDS: Mapping[str, str] = {
    "ECNSharp": "ECNSharpQueueDisc",
    "TCN": "TcnQueueDisc",
    "RED": "StepRedQueueDisc",
    "CODEL": "MarkingCoDelQueueDisc",
    "PIE": "MarkingPieQueueDisc",
}


@dataclass(frozen=True)
class Marking:
    """How a program's options set the disciplines that it names."""

    #: For each word of the program, the option of each attribute.
    thresholds: Mapping[str, Mapping[str, str]]
    #: Attributes in packets; all others are times.
    packets: frozenset[str] = field(default=frozenset({"MarkingThreshold"}))

    def discipline(self, values: Values, defaults: Defaults, limit: str) -> dict[str, Any]:
        """The discipline that ``--AQM`` names, of at most `limit`.

        Raises:
            UsageError: for a name that there is not.
        """
        name = self._name(values)
        own = {
            attribute: f"{values[option]}p" if attribute in self.packets else time(values[option])
            for attribute, option in self.thresholds.get(name, {}).items()
        }
        for option, value in ((o, values[o]) for o in self.thresholds.get(name, {}).values()):
            if value == 0:
                raise UsageError(f"--{option}", "0 marks everything; give a threshold above 0")
        return defaults.qdisc(name, MaxSize=limit, **own)

    def notes(self, values: Values) -> list[str]:
        """Options that were given and are those of another discipline, and a word of the program's
        that another case makes one of ours.
        """
        given, name = values["AQM"], self._name(values)
        used = set(self.thresholds.get(name, {}).values())
        of_others = {o for options in self.thresholds.values() for o in options.values()} - used
        meant = next((word for word in WORDS if word.lower() == given.lower()), given)
        notes = []
        if WORDS.get(meant, name) != name:
            notes.append(
                f"--AQM={given} is {name}; the program's word is {meant}, for {WORDS[meant]}"
            )
        return notes + [
            f"--{option} has no effect with --AQM={values['AQM']}"
            for option in values.given
            if option in of_others
        ]

    def _name(self, values: Values) -> str:
        given = values["AQM"]
        if given in WORDS:
            return WORDS[given]
        try:
            return registry.resolve("qdisc", given)
        except ValueError as error:
            message = error.message if isinstance(error, UsageError) else str(error)
            raise UsageError("--AQM", registry.with_words(message, given, WORDS)) from None
