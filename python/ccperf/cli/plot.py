"""``ccperf plot``: figures of runs, of several runs together, of a metric against a parameter."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ccperf.cli.choice import Choice, Parameters, named
from ccperf.cli.options import Folder, Json, databases, load_runs, writable_folder
from ccperf.cli.output import note, print_json, say
from ccperf.cli.parameter import Parameter
from ccperf.errors import UsageError, unknown

if TYPE_CHECKING:
    from ccperf.present.figures import Figure
    from ccperf.runs.result import Result


@dataclass
class Look:
    """How figures are to look in a paper."""

    panel: Annotated[
        str,
        Parameter(help="One panel alone: throughput; of completion_times all, small or large."),
    ] = ""
    bin: Annotated[str, Parameter(help="Average figures over time in bins, e.g. 200ms.")] = ""
    sum: Annotated[
        bool,
        Parameter(help="The flows of a run as one: sums of throughput, means of delays."),
    ] = False
    log: Annotated[str, Parameter(help="Logarithmic axes: x, y or xy.")] = ""
    label: Annotated[
        list[str] | None,
        Parameter(help="Words for what is shown: mycca.py:MyCca=Ours; may be repeated."),
    ] = None
    style: Annotated[str, Parameter(help="A style of Matplotlib's, or a file of its settings.")] = (
        ""
    )
    width: Annotated[
        str,
        Parameter(help="column (3.4 inches), ieee, ieee-page, acm, acm-page, or a length: 86mm."),
    ] = "column"
    height: Annotated[str, Parameter(help="A length; by default what the panels need.")] = ""

    def check(self) -> None:
        """Raise :class:`~ccperf.errors.UsageError` for what is wrong without any figure."""
        from ccperf.present.figures.sizes import inches

        with _named_options():
            inches(self.width, "width")
            if self.height:
                inches(self.height, "height")
        self.labels()

    def labels(self) -> dict[str, str]:
        """Words by what they stand for."""
        from ccperf.evidence.chosen import spellings

        found = {}
        for text in self.label or ():
            name, equals, words = text.partition("=")
            # A parameter's value has an equals sign itself: `k=1=One flow`.
            if words.count("="):
                name, equals, words = text.rpartition("=")
            if not (equals and name):
                raise UsageError("--label", f"`{text}` is not NAME=Text")
            # The last one is what points are called by: `codel` is `CoDelQueueDisc` there.
            *_, called = spellings(name)
            found[called] = words
        return found

    def of(self, figures: Mapping[str, Figure]) -> dict[str, Figure]:
        """Figures by their files' names, as they are asked for."""
        from ccperf.base.outputs import file_name
        from ccperf.present.figures import adjusted

        words = [self.panel, f"bin-{self.bin}" * bool(self.bin), "sum" * self.sum]
        with _named_options():
            return {
                file_name([name, *filter(None, words)]): adjusted(
                    figure, panel=self.panel, bin=self.bin, log=self.log, labels=self.labels()
                )
                for name, figure in figures.items()
            }


@contextmanager
def _named_options() -> Iterator[None]:
    """What the library calls `panel` is `--panel` here."""
    try:
        yield
    except UsageError as error:
        field = f"--{error.field}" if error.field.isidentifier() else error.field  # or a file, say
        raise UsageError(field, error.message) from None


def command(
    *runs: Annotated[
        str,
        Parameter(
            help="Ids of runs, or their beginnings. Runs chosen by other options, and nothing else "
            "said: the figure of their experiment."
        ),
    ],
    db: Annotated[
        list[Path] | None,
        Parameter(help="Database; may be repeated. Default: those here."),
    ] = None,
    figure: Annotated[str, Parameter(help="Figures, e.g. time_series; default: all.")] = "",
    choice: Choice | None = None,
    overlay: Annotated[bool, Parameter(help="All the runs in one figure.")] = False,
    sweep: Annotated[
        str, Parameter(help="Draw --metric against this parameter, with intervals over seeds.")
    ] = "",
    metric: Annotated[str, Parameter(help="Draw these, e.g. mean_srtt_l4.")] = "",
    base: Annotated[
        str, Parameter(help="With --sweep: relative to this algorithm, paired by seed.")
    ] = "",
    look: Look | None = None,
    format: Annotated[str, Parameter(help="pdf, svg, png, or several: pdf,svg.")] = "pdf",
    output: Folder = Path(),
    json: Json = False,
    **parameters: Parameters,
) -> None:
    """Draw figures for papers, named by what they show.

    Runs are named by their ids or chosen by experiment, algorithm, point and seed. `--overlay` lays
    them over each other, one colour a run; `--sweep k --metric mean_srtt_l4` draws a line for each
    algorithm with the 95 % confidence interval of its means. Where runs are chosen and nothing else
    is said, it is the figure of their experiment: its first headline over its x axis. Completion
    times of runs that differ in their seed only are one curve.
    """
    from ccperf.evidence import sweeps
    from ccperf.evidence.chosen import metrics_named
    from ccperf.experiments.catalogue import answer
    from ccperf.present import figures, laid_over

    names = _known("--figure", "figure", figure, [*figures.FIGURES, *figures.OF_RECORDINGS])
    formats = _known("--format", "format", format, figures.FORMATS)
    look = look or Look()
    look.check()
    writable_folder(output)
    choice = choice or Choice()
    is_made = choice.is_made(parameters)
    is_default = is_made and not (runs or names or overlay or sweep or metric or base)
    chosen = []
    if sweep or metric or base or is_default:
        if runs:
            raise UsageError("runs", "cannot be named with --sweep; use --experiment, --cc, --k")
        chosen = choice.cells(databases(db), parameters)
    if is_default and all(answer(cell.point.experiment).shape == "time" for cell in chosen):
        names = ["time_series"]
    elif chosen:
        if look.sum:
            raise UsageError("--sum", "is for figures over time, not for metrics")
        try:
            drawn, left_out = sweeps.sweeps(
                chosen,
                sweep,
                metrics_named(metric, "--metric"),
                base,
                narrowed=choice.named(parameters),
                seeds=choice.seeds() or (),
            )
        except UsageError as error:
            hint = "; --figure time_series draws the runs themselves" if is_default else ""
            raise UsageError(error.field, error.message + hint) from None
        for words in left_out:
            note(f"not drawn: {words}")
        _save(drawn, formats, output, look, json)
        return
    files = databases(db, runs)
    ids = named(runs, choice, parameters, files)
    if not ids:
        choices = "or choose some: --experiment, --cc, --seed"
        raise UsageError("runs", f"name at least one, which `ccperf runs` lists, {choices}")
    results = load_runs(ids, files)
    if overlay:
        names = names or laid_over.common(results)
        drawn = _overlays(results, names, look, are_chosen=bool(runs or choice.seed))
    else:
        from ccperf.base.outputs import stem

        with _named_options():
            drawn = {
                f"{stem(result)}_{name}": laid_over.of_run(name, result, sum=look.sum)
                for result in results
                for name in names or figures.drawable(result.scenario, result.recording)
            }
    _save(drawn, formats, output, look, json)


def _known(option: str, kind: str, text: str, known: Collection[str]) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UsageError(option, unknown(kind, name, known))
    return names


def _overlays(
    results: Sequence[Result], names: Sequence[str], look: Look, *, are_chosen: bool
) -> dict[str, Figure]:
    """Each figure with all the runs in it, called by what tells them apart.

    Where runs of several seeds can be taken together (completion times), they are; files say which
    seeds if those are chosen.
    """
    from ccperf.base.outputs import file_name, several
    from ccperf.evidence.sweeps import seed_words
    from ccperf.present import figures, laid_over

    common = [results[0].experiment or "runs", *_point(results)]
    seeds = sorted({result.provenance.seed for result in results})
    drawn = {}
    for name in names:
        with _named_options():
            of = laid_over.described(name, results, sum=look.sum)
        kind = figures.OF_RECORDINGS.get(name)
        is_pooled = kind is not None and kind.pool is not None
        of_seeds = seed_words(seeds) if is_pooled and are_chosen and seeds[1:] else []
        together = laid_over.laid_over(of, results)
        drawn[file_name([*common, *of_seeds, *several(list(of)), name])] = together
    return drawn


def _point(results: Sequence[Result]) -> list[str]:
    """The point that runs of one experiment have in common, as far as there was a choice, and the
    seed."""
    from ccperf.algorithms.roles import parameters
    from ccperf.experiments.catalogue import NAMED

    points = [parameters(result.parameters) for result in results]
    experiment = results[0].experiment or ""
    known = NAMED.get(experiment)
    words = [
        f"{name}-{value}"
        for name, value in (known.chosen(points[0]) if known else points[0]).items()
        if all(str(point.get(name)) == str(value) for point in points)
    ]
    seeds = {result.provenance.seed for result in results}
    return [*words, *(f"seed-{seed}" for seed in seeds if len(seeds) == 1)]


def _save(
    described: dict[str, Figure], formats: Sequence[str], output: Path, look: Look, json: bool
) -> None:
    from ccperf.base.outputs import FIGURES, may_write
    from ccperf.present import figures

    drawn = look.of(described)
    targets = {name: [output / f"{name}.{suffix}" for suffix in formats] for name in drawn}
    for path in (path for paths in targets.values() for path in paths):
        may_write(path, FIGURES[path.suffix[1:]], "--output")
    output.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn.items():
        with _named_options():
            figures.save(
                figure,
                *targets[name],
                width=look.width,
                height=look.height or None,
                style=look.style,
            )
        if not json:
            for path in targets[name]:
                say(path)
            for words in figure.notes:
                note(f"{figure.name}: {words}")
    if json:
        print_json(
            [
                {
                    "figure": figure.name,
                    "title": figure.title,
                    "shows": figure.alt,
                    "notes": list(figure.notes),
                    "files": [str(path) for path in targets[name]],
                }
                for name, figure in drawn.items()
            ]
        )
