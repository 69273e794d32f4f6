"""What ns-3's test suites of queue disciplines expect of its classes, asked of the engine's.

Facts of the suites are what arrives and leaves, and the numbers that they expect then; nothing of
their code is here.  `ccperf.verify.expectations` says what is left out, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from disciplines import (
    CAPABLE,
    CE_MARK,
    DROP,
    MARK,
    NOT_CAPABLE,
    UNITS,
    Happened,
    Make,
    Queue,
    limit,
)
from sockets import MS, NATIVE, asks

from ccperf.scenario import Scenario

# --- First in, first out -------------------------------------------------------------------------


@asks("fifo-queue-disc", "units", [UNITS])
def test_a_fifo_takes_what_it_has_room_for(units: list[str], queue: Make) -> None:
    for unit in units:
        fifo = queue("FifoQueueDisc", MaxSize=limit(unit, 10))
        for _ in range(11):
            fifo.arrive(0, 1000)
        for _ in range(11):
            fifo.depart(0)
        run, one = fifo.run(), 1 if unit == "p" else 1000
        expected = [*range(1, 11), 10, *range(9, -1, -1), 0]
        assert [size[unit] for size in run.sizes] == [n * one for n in expected]
        assert run.left == [*range(10), None]


# --- CoDel and COBALT ----------------------------------------------------------------------------


def six_in_and_out(made: Queue, unit: str) -> None:
    for _ in range(6):
        made.arrive(0, 1000)
    for _ in range(7):
        made.depart(0)
    run, one = made.run(), 1 if unit == "p" else 1000
    assert [size[unit] for size in run.sizes] == [
        n * one for n in [*range(1, 7), *range(5, -1, -1), 0]
    ]
    assert run.left == [*range(6), None]
    assert run.count("Overlimit drop", DROP) == 0


@asks("codel-queue-disc", "unit", UNITS)
def test_codel_takes_and_gives(unit: str, queue: Make) -> None:
    settings = {"MinBytes": 1000, "Interval": "50ms", "Target": "4ms"}
    six_in_and_out(queue("CoDelQueueDisc", MaxSize=limit(unit, 1500), **settings), unit)


@asks("codel-queue-disc", "unit", UNITS)
def test_codel_drops_what_it_has_no_room_for(unit: str, queue: Make) -> None:
    codel = queue("CoDelQueueDisc", MaxSize=limit(unit, 500), MinBytes=1000)
    for _ in range(503):
        codel.arrive(0, 1000)
    run = codel.run()
    assert run.sizes[-1][unit] == 500 * (1 if unit == "p" else 1000)
    assert run.count("Overlimit drop") == 3


#: When packets leave: after twice the target, twice the interval later two at once, and after
#: twice that time.
DEPARTURES = [10 * MS, 210 * MS, 210 * MS, 420 * MS]


def departures(
    make: Callable[[], Queue], unit: str, kinds: Iterable[int], times: Iterable[int]
) -> list[tuple[int, Happened]]:
    """What is left after each departure, and what was counted until then."""
    found: list[tuple[int, Happened]] = []
    kinds, times = list(kinds), list(times)
    for count in range(1, len(times) + 1):
        made = make()
        for kind in kinds:
            made.arrive(0, 1000, ecn=kind)
        for time in times[:count]:
            made.depart(time)
        run = made.run()
        found.append((run.sizes[-1][unit] // (1 if unit == "p" else 1000), run))
    return found


@asks("codel-queue-disc", "unit", UNITS)
def test_codel_drops_what_waited_for_an_interval(unit: str, queue: Make) -> None:
    def make() -> Queue:
        return queue("CoDelQueueDisc", MaxSize=limit(unit, 500))

    after = departures(make, unit, [NOT_CAPABLE] * 20, DEPARTURES)
    assert [(left, run.count(DROP)) for left, run in after[:3]] == [(19, 0), (17, 1), (16, 1)]
    # As often again as the time of the next drop moves.
    left, run = after[3]
    moved = run.count(DROP) - 1
    assert moved > 0
    assert left == 16 - (moved + 1)


@asks("codel-queue-disc", "unit", UNITS)
def test_codel_marks_what_it_would_drop(unit: str, queue: Make) -> None:
    def make(**threshold: object) -> Queue:
        return queue("CoDelQueueDisc", MaxSize=limit(unit, 500), UseEcn="true", **threshold)

    def counted(run: Happened) -> tuple[int, int, int]:
        return run.count(DROP), run.count(MARK), run.count(CE_MARK)

    (before, _), (_, first) = departures(make, unit, [NOT_CAPABLE] * 20, DEPARTURES[:2])
    assert (before, first.count(DROP)) == (19, 1)
    after = departures(make, unit, [CAPABLE] * 20, DEPARTURES)
    assert [left for left, _ in after] == [19, 18, 17, 16]
    assert [counted(run) for _, run in after] == [(0, 0, 0), (0, 1, 0), (0, 1, 0), (0, 2, 0)]

    def earlier() -> Queue:
        return make(CeThreshold="2ms")

    after = departures(earlier, unit, [CAPABLE] * 3 + [NOT_CAPABLE] * 17, DEPARTURES)
    assert [left for left, _ in after[:3]] == [19, 18, 17]
    assert [counted(run) for _, run in after[:3]] == [(0, 0, 1), (0, 1, 1), (0, 1, 2)]
    left, run = after[3]
    moved = run.count(DROP)
    assert (left, counted(run)) == (17 - (moved + 1), (moved, 1, 2))
    times = [1 * MS, 3 * MS, *DEPARTURES[:2]]
    after = departures(earlier, unit, [CAPABLE] * 20, times)
    assert [left for left, _ in after] == [19, 18, 17, 16]
    assert [(run.count(DROP), run.count(CE_MARK)) for _, run in after[:3]] == [
        (0, 0),
        (0, 1),
        (0, 2),
    ]


#: As long as there is.
NEVER = "9223372036854775807ns"


@asks("cobalt-queue-disc", "unit", UNITS)
def test_cobalt_takes_and_gives(unit: str, queue: Make) -> None:
    settings = {"Interval": "50ms", "Target": "4ms", "BlueThreshold": NEVER}
    six_in_and_out(queue("CobaltQueueDisc", MaxSize=limit(unit, 1500), **settings), unit)


@asks("cobalt-queue-disc", "units", [UNITS])
def test_cobalt_drops_what_it_has_no_room_for(units: list[str], queue: Make) -> None:
    for unit in units:
        cobalt = queue("CobaltQueueDisc", MaxSize=limit(unit, 100, 1500), BlueThreshold=NEVER)
        for i in range(200):
            cobalt.arrive((i + 1) * 10 * MS, 1500 if unit == "B" else 1, ecn=CAPABLE)
        assert cobalt.run().count("Overlimit drop") > 0


@asks("cobalt-queue-disc", "unit", UNITS)
def test_cobalt_marks_what_it_would_drop(unit: str, queue: Make) -> None:
    def make(ecn: str) -> Callable[[], Queue]:
        settings = {"UseEcn": ecn, "BlueThreshold": NEVER}
        return lambda: queue("CobaltQueueDisc", MaxSize=limit(unit, 500), **settings)

    def counted(run: Happened) -> tuple[int, int]:
        return run.count(DROP), run.count("forcedMark", "Forced mark")

    (before, none), (_, first) = departures(make("false"), unit, [NOT_CAPABLE] * 20, DEPARTURES[:2])
    assert (before, counted(none)) == (19, (0, 0))
    assert first.count(DROP) > 0
    after = departures(make("true"), unit, [CAPABLE] * 20, DEPARTURES)
    assert [left for left, _ in after] == [19, 18, 17, 16]
    assert [counted(run) for _, run in after] == [(0, 0), (0, 1), (0, 2), (0, 3)]
    mixed = departures(make("true"), unit, [CAPABLE] * 3 + [NOT_CAPABLE] * 17, DEPARTURES)
    assert [left for left, _ in mixed[:3]] == [19, 18, 17]
    assert [counted(run) for _, run in mixed[:3]] == [(0, 0), (0, 1), (0, 2)]
    left, run = mixed[3]
    drops, marks = counted(run)
    assert (left, marks) == (17 - drops - 1, 2)


@asks("cobalt-queue-disc", "unit", UNITS)
def test_cobalt_marks_above_a_threshold_of_delay(unit: str, queue: Make) -> None:
    settings = {"UseEcn": "true", "CeThreshold": "1ms", "BlueThreshold": NEVER}

    def marks(until_us: int) -> int:
        cobalt = queue("CobaltQueueDisc", MaxSize=limit(unit, 1500), **settings)
        arrivals = [1000 * i for i in range(1, 12)]
        arrivals += [11_000 + 1200 * i for i in range(1, 10)]
        arrivals += [20_000 + 1000 * i for i in range(1, 11)]
        leaving = [1100 * i for i in range(1, 12)]
        leaving += [11_000 + 1100 * i for i in range(1, 10)]
        leaving += [11_000 + 1100 * i for i in range(1, 11)]
        for time in (t for t in arrivals if t <= until_us):
            cobalt.arrive(time * 1000, 1000, ecn=CAPABLE)
        for time in (t for t in leaving if t <= until_us):
            cobalt.depart(time * 1000)
        return cobalt.run().count(CE_MARK)

    assert marks(12_100) == 1
    assert all(marks(time) == 1 for time in (13_200, 17_600, 22_000))


@asks("cobalt-queue-disc", "unit", UNITS)
def test_cobalt_drops_at_random_what_waited_too_long(unit: str, queue: Make) -> None:
    def drops(**settings: object) -> int:
        cobalt = queue("CobaltQueueDisc", 1, **settings)
        for _ in range(200):
            cobalt.arrive(0, 1 if unit == "p" else 1500, ecn=CAPABLE)
        for i in range(100):
            cobalt.depart((i + 1) * 10 * MS)
        return cobalt.run().count(DROP)

    # The chance is 1/256 higher with each packet from the 41st on; 49 is what the stream gives.
    assert drops() == 49
    assert drops(UseEcn="true", BlueThreshold=NEVER) == 0


# --- RED -----------------------------------------------------------------------------------------


def fill_red(
    unit: str, queue: Make, delay: int = 0, ecn: int = NOT_CAPABLE, **settings: object
) -> Happened:
    """300 arrivals, `delay` ns after one another, and no departure."""
    size, room = (0, "300p") if unit == "p" else (500, "150000B")
    red = queue("RedQueueDisc", **{"MaxSize": room, **settings})
    for i in range(300):
        red.arrive((i + 1) * delay, size, ecn=ecn)
    return red.run()


@asks("red-queue-disc", "units", [UNITS])
def test_red_drops_early(units: list[str], queue: Make) -> None:
    for unit in units:
        check_red(unit, queue)


def check_red(unit: str, queue: Make) -> None:
    size, one = (0, 1) if unit == "p" else (500, 500)
    small = queue(
        "RedQueueDisc", MinTh=2 * one, MaxTh=5 * one, MaxSize=f"{8 * one}{unit}", QW=0.002
    )
    for _ in range(8):
        small.arrive(0, size)
    for _ in range(9):
        small.depart(0)
    run = small.run()
    assert [s[unit] for s in run.sizes] == [n * one for n in [*range(1, 9), *range(7, -1, -1), 0]]
    assert run.left == [*range(8), None]

    def full(least: int, most: int, ecn: int = NOT_CAPABLE, **settings: object) -> Happened:
        bounds = {"MinTh": least * one, "MaxTh": most * one}
        return fill_red(unit, queue, ecn=ecn, **bounds, **settings)

    def dropped(run: Happened) -> int:
        return run.count("Unforced drop", "Forced drop", "Internal queue drop")

    unforced, forced = "Unforced drop", "Forced drop"
    assert dropped(full(70, 150, QW=0.002)) == 0
    third = dropped(full(70, 150, QW=0.02))
    assert third > 0
    assert dropped(full(70, 100, QW=0.02)) > third
    assert dropped(full(70, 150, QW=0.02, LInterm=5)) > third
    assert dropped(full(70, 150, QW=0.02, Gentle="false")) > third
    gentle = full(70, 150, CAPABLE, QW=0.02, UseEcn="true")
    assert gentle.count(unforced) == 0
    assert gentle.count("Unforced mark") > 0
    assert gentle.count(forced) == 0
    abrupt = {"QW": 0.02, "UseEcn": "true", "Gentle": "false"}
    assert full(70, 150, CAPABLE, **abrupt).count(forced) > 0
    marked = full(70, 150, CAPABLE, **abrupt, UseHardDrop="false")
    assert marked.count(forced) == 0
    assert marked.count("Forced mark") > 0
    marks = full(30, 90, QW=0.002, LInterm=2).count(unforced)
    assert marks > 0
    for variant in ("FengAdaptive", "NLRED"):
        assert full(30, 90, QW=0.002, LInterm=2, **{variant: "true"}).count(unforced) < marks


@asks("adaptive-red-queue-disc", "units", [UNITS])
def test_red_takes_its_parameters_from_the_rate(units: list[str], queue: Make) -> None:
    for unit in units:
        check_adaptive_red(unit, queue)


def check_adaptive_red(unit: str, queue: Make) -> None:
    one = 1 if unit == "p" else 500

    def early(delay: int = 0, **settings: object) -> int:
        return fill_red(unit, queue, delay, **settings).count("Unforced drop")

    bounds = {"MinTh": 70 * one, "MaxTh": 150 * one}
    slow = {"LinkBandwidth": "0.015Mbps"}
    for weight in (0.0, -1.0):
        assert early(**bounds, QW=weight) == 0
        assert early(**bounds, QW=weight, **slow) > 0
    automatic = early(**bounds, QW=-2.0)
    assert automatic > 0
    assert early(**bounds, QW=-2.0, **slow) != automatic
    assert early(MinTh=0.0, MaxTh=0.0) > 0
    assert early(MinTh=0.0, MaxTh=0.0, LinkBandwidth="150Mbps") == 0
    plain = {"MinTh": 5 * one, "MaxTh": 15 * one, "QW": 0.002, "LInterm": 2}
    fixed = early(10 * MS, **plain)
    assert fixed > 0
    assert early(10 * MS, LInterm=2, ARED="true") < fixed


# --- PIE -----------------------------------------------------------------------------------------


@asks("pie-queue-disc", "units", [UNITS])
def test_pie_drops_early(units: list[str], queue: Make) -> None:
    for unit in units:
        check_pie(unit, queue)


def check_pie(unit: str, queue: Make) -> None:
    most = limit(unit, 300)
    small = queue("PieQueueDisc", MaxSize=most)
    size, one = (0, 1) if unit == "p" else (1000, 1000)
    for _ in range(8):
        small.arrive(0, size)
    for _ in range(9):
        small.depart(0)
    run = small.run()
    assert [s[unit] for s in run.sizes] == [n * one for n in [*range(1, 9), *range(7, -1, -1), 0]]

    def loaded(
        gap_ms: int, count: int = 400, ecn: int = NOT_CAPABLE, **settings: object
    ) -> tuple[int, int]:
        pie = queue("PieQueueDisc", MaxSize=most, **settings)
        for i in range(count):
            pie.arrive((i + 1) * 10 * MS, 1000, ecn=ecn)
            pie.depart((i + 1) * gap_ms * MS)
        run = pie.run()
        assert run.count("Forced drop") == 0
        return run.count("Unforced drop"), run.count("Unforced mark")

    common = {"DequeueThreshold": 10_000, "MaxBurstAllowance": "100ms"}
    quick = {**common, "Tupdate": "30ms", "QueueDelayReference": "20ms"}
    second, _ = loaded(12, **quick)
    assert second > 0
    assert loaded(12, **{**quick, "QueueDelayReference": "80ms"})[0] < second
    fourth, _ = loaded(15, **quick)
    assert fourth > second
    assert loaded(15, **{**quick, "Tupdate": "90ms"})[0] < fourth
    assert loaded(14, UseDequeueRateEstimator="true")[0] > 0
    for adjusted in ("false", "true"):
        assert loaded(14, UseCapDropAdjustment=adjusted)[0] > 0
    # Marks need both ends and the chance below its threshold.
    for ecn, use in ((NOT_CAPABLE, "true"), (CAPABLE, "false")):
        drops, marks = loaded(14, ecn=ecn, UseEcn=use, MarkEcnThreshold=0.3)
        assert drops > 0
        assert marks == 0
    drops, marks = loaded(14, ecn=CAPABLE, UseEcn="true", MarkEcnThreshold=0.3)
    assert drops > 0
    assert marks > 0
    assert loaded(14, UseDerandomization="true")[0] > 0
    assert loaded(20, 100, ActiveThreshold="1s") == (0, 0)
    drops, marks = loaded(20, 100, ActiveThreshold="1ms")
    assert drops > 0
    assert marks == 0


# --- Token buckets -------------------------------------------------------------------------------


@asks("tbf-queue-disc", "units", [UNITS])
def test_a_token_bucket_lets_through_what_it_has_tokens_for(units: list[str], queue: Make) -> None:
    for unit in units:
        check_token_bucket(unit, queue)


def check_token_bucket(unit: str, queue: Make) -> None:
    burst = queue("TbfQueueDisc", MaxSize=limit(unit, 4, 1500), Burst=6000, Rate="48kbps")
    for _ in range(5):
        burst.arrive(0, 1500)
    for _ in range(4):
        burst.depart(0)
    run, one = burst.run(), 1 if unit == "p" else 1500
    assert [s[unit] for s in run.sizes] == [n * one for n in [1, 2, 3, 4, 4, 3, 2, 1, 0]]
    assert run.left == [0, 1, 2, 3]

    def passes(
        burst: int, rate: str, peak: str, arrivals: list[int], leaving: list[int]
    ) -> list[bool]:
        rates = {"Burst": burst, "Mtu": 1000, "Rate": rate, "PeakRate": peak}
        tbf = queue("TbfQueueDisc", MaxSize=limit(unit, 10), **rates)
        for time in arrivals:
            tbf.arrive(time * MS, 1000)
        for time in leaving:
            tbf.depart(time * MS)
        return [number is not None for number in tbf.run().left]

    arrivals, leaving = (
        [(i + 1) * 90 for i in range(1, 11)],
        [(i + 1) * 100 for i in range(1, 11)],
    )
    assert passes(10_000, "80kbps", "800kbps", arrivals, leaving[:9]) == [True] * 9
    assert passes(5000, "40kbps", "800kbps", arrivals, leaving) == [True] * 9 + [False]
    leaving = [100 + 100 * (i // 2) + 40 * (i % 2) for i in range(10)]
    early = [(i + 1) * 40 for i in range(1, 11)]
    alternately = passes(15_000, "120kbps", "160kbps", early, [t for t in leaving if t < 550])
    assert alternately == [i % 2 == 0 for i in range(len(alternately))]


# --- Bands ---------------------------------------------------------------------------------------

#: A type of service of each band.
REFERENCES = (0x10, 0x00, 0x08)


def band(tos: int, folder: Path) -> int:
    """The band of pfifo_fast that packets with this type of service wait in."""
    once = {"type": "CBR", "write": "100B", "rate": "800kbps", "bytes": "100B"}
    # Something to wait for, the packet, and one of each band that comes just after it.
    kinds = [0] * 5 + [tos, *REFERENCES]
    flows = [
        {
            "source": "a",
            "destination": "b",
            "transport": "UDP",
            "start": f"{number}us",
            "tos": kind,
            "application": once,
        }
        for number, kind in enumerate(kinds)
    ]
    direction = {"qdisc": "PfifoFastQueueDisc", "device_queue": "1p"}
    link = {"name": "wire", "ends": ("a", "b"), "rate": "100kbps", "delay": "1ms"}
    path = folder / "packets.csv"
    described = {"nodes": ["a", "b"], "links": [{**link, "forward": direction}], "flows": flows}
    NATIVE.simulate(Scenario.model_validate({**described, "stop_time": "1s"}), packets=path)
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    order = [row[3] for row in rows if row[1:3] == ["wire_forward", "tx"]]
    references = [f"flow_{7 + number}" for number in range(3)]
    following = order[order.index("flow_6") + 1]
    return references.index(following)


def dscp(tos: int) -> int:
    return tos << 2


@asks("pfifo-fast-queue-disc", "bands", [[1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1]])
def test_pfifo_fast_sorts_by_types_of_service(bands: list[int], tmp_path: Path) -> None:
    assert [band(tos, tmp_path) for tos in range(0, 0x20, 2)] == bands


@asks(
    "pfifo-fast-queue-disc",
    "bands",
    [
        {
            1: [0, 46, 14, 22, 30, 38, 8, 16, 24, 32, 40, 48, 56],
            2: [10, 18, 26, 34],
            0: [12, 20, 28, 36],
        }
    ],
)
def test_pfifo_fast_sorts_by_code_points(bands: dict[int, list[int]], tmp_path: Path) -> None:
    for expected, points in bands.items():
        for point in points:
            assert band(dscp(point), tmp_path) == expected, point


@asks("pfifo-fast-queue-disc", "most", [6])
def test_pfifo_fast_has_one_limit_for_all_bands(most: int, queue: Make) -> None:
    bands = queue("PfifoFastQueueDisc", MaxSize=f"{most}p")
    for priority in (6, 6, 4, 4, 2, 2, 6, 4, 2):
        bands.arrive(0, 100, priority=priority)
    for _ in range(7):
        bands.depart(0)
    run = bands.run()
    assert [size["p"] for size in run.sizes[:9]] == [1, 2, 3, 4, 5, 6, 6, 6, 6]
    assert run.left == [0, 1, 2, 3, 4, 5, None]


@asks("pfifo-fast-queue-disc", "sizes", [[40, 52, 140]])
def test_pfifo_fast_puts_what_has_no_priority_into_the_middle(
    sizes: list[int], queue: Make
) -> None:
    bands = queue("PfifoFastQueueDisc")
    bands.arrive(0, 100, priority=2)
    for size in sizes:
        bands.arrive(0, size, priority=0)
    bands.arrive(0, 100, priority=6)
    for _ in range(5):
        bands.depart(0)
    assert bands.run().left == [4, 1, 2, 3, 0]


# --- Flow control --------------------------------------------------------------------------------


@asks(
    "tc-flow-control",
    ("device", "total"),
    [
        *((f"{most}p", 10) for most in (1, 5, 9, 10, 11, 15)),
        *((f"{most}p", 1) for most in (1, 2, 5)),
        ("5000B", 10),
    ],
)
def test_what_a_full_device_does_not_take_waits_in_the_discipline(device: str, total: int) -> None:
    # A packet is 1000 bytes with all headers and takes 8 ms; all come in the first 0.1 ms.
    once = {"type": "CBR", "write": "970B", "rate": "1Gbps", "bytes": f"{970 * total}B"}
    # Of 5000 bytes ns-3 stops a queue with room for less than the device's MTU.
    room = min(int(device[:-1]), total) if device.endswith("p") else 3
    direction = {"device_queue": device, "mtu": "2500B", "qdisc": "FqCoDelQueueDisc"}
    link = {"name": "wire", "ends": ("a", "b"), "rate": "1Mbps", "delay": "0s"}
    flow = {"source": "a", "destination": "b", "transport": "UDP", "application": once}
    described = {"nodes": ["a", "b"], "links": [{**link, "forward": direction}], "flows": [flow]}
    options = {"interval": "1ms", "links": ["wire"]}
    scenario = {**described, "stop_time": "100ms", "recording": options}
    samples = NATIVE.simulate(Scenario.model_validate(scenario)).tables["link_samples"]
    forward = zip(
        samples["time_ns"],
        samples["link"],
        samples["qdisc_packets"],
        samples["tx_bytes"],
        strict=True,
    )
    at = {
        time // MS: (waiting, sent // 1000) for time, which, waiting, sent in forward if which == 0
    }
    for number in range(1, total + 1):
        waiting, sent = at[8 * (number - 1) + 1]
        in_device = min(total - number, room)
        assert (waiting, sent) == (total - number - in_device, number)
