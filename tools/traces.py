"""Make the traces that are in the package: `.venv/bin/python tools/traces.py`.

Every one is drawn from a seed that is its name, so that this writes the same files again. They look
like what they are named after and are no measurements; each says in its head what it is made of.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "python" / "ccperf" / "data" / "traces"
LENGTH_S = 60
PACKET_BITS = 8 * 1500
#: Rows of the traces of rates are this far apart.
STEP_S = 0.1


def poisson(rng: random.Random, rate_mbps: float) -> Iterator[str]:
    """Opportunities for packets of 1500 bytes at the times of a Poisson process."""
    time = 0.0
    while True:
        time += rng.expovariate(rate_mbps * 1e6 / PACKET_BITS)
        if time >= LENGTH_S:
            # The last line is the trace's length.
            yield str(LENGTH_S * 1000)
            return
        yield str(max(1, round(time * 1000)))


def lte(rng: random.Random) -> Iterator[str]:
    """Fading: the logarithm of the rate follows a first-order autoregression around 12 Mbps
    (correlation 0.95 in 100 ms, a factor of e each way at one standard deviation of 0.7), between
    0.3 and 60 Mbps; once in 20 s a hole of 0.3 to 1 s at 0.1 Mbps."""
    x, hole = 0.0, 0
    yield "time_s,rate_mbps"
    for i in range(round(LENGTH_S / STEP_S)):
        x = 0.95 * x + rng.gauss(0, 0.7 * (1 - 0.95**2) ** 0.5)
        if hole == 0 and rng.random() < STEP_S / 20:
            hole = rng.randint(3, 10)
        rate = 0.1 if hole else min(max(12 * 2.718281828459045**x, 0.3), 60)
        hole = max(0, hole - 1)
        yield f"{i * STEP_S:.1f},{rate:.3f}"


def wifi(rng: random.Random) -> Iterator[str]:
    """Rate adaptation and contention: the modulation moves up or down one of eight steps from 6.5
    to 65 Mbps (802.11n, 20 MHz, one stream) with probability 0.05 each; 65 % of that is left for
    data, shared with one or two others for a second or so now and then."""
    steps = [6.5, 13, 19.5, 26, 39, 52, 58.5, 65]
    place, shared, left = 5, 1, 0
    yield "time_s,rate_mbps"
    for i in range(round(LENGTH_S / STEP_S)):
        place = min(max(place + rng.choices([-1, 0, 1], [0.05, 0.9, 0.05])[0], 0), len(steps) - 1)
        if left == 0:
            shared = rng.choice([1, 1, 1, 2, 3])
            left = 1 + round(rng.expovariate(STEP_S / 1.0))
        left -= 1
        yield f"{i * STEP_S:.1f},{0.65 * steps[place] / shared:.3f}"


def leo(rng: random.Random) -> Iterator[str]:
    """Low orbit: every 15 s another satellite, with a rate of 40 to 150 Mbps and a one-way delay of
    10 to 25 ms that then drifts by up to 0.2 ms in 100 ms; in the first 200 ms after the handover
    the rate is a tenth and a packet in twenty is lost, else one in a thousand."""
    rate = delay = 0.0
    yield "time_s,rate_mbps,delay_ms,loss"
    for i in range(round(LENGTH_S / STEP_S)):
        since = round(i * STEP_S % 15, 3)
        if since < STEP_S / 2:
            rate, delay = rng.uniform(40, 150), rng.uniform(10, 25)
        delay = min(max(delay + rng.uniform(-0.2, 0.2), 8), 30)
        is_handover = since < 0.2
        now = rate * rng.uniform(0.85, 1.0) * (0.1 if is_handover else 1)
        yield f"{i * STEP_S:.1f},{now:.3f},{delay:.2f},{0.05 if is_handover else 0.001}"


TRACES = {
    "0.57mbps-poisson.trace": lambda rng: poisson(rng, 0.57),
    "2.64mbps-poisson.trace": lambda rng: poisson(rng, 2.64),
    "3.04mbps-poisson.trace": lambda rng: poisson(rng, 3.04),
    "lte-like.csv": lte,
    "wifi-like.csv": wifi,
    "leo-like.csv": leo,
}


def texts() -> dict[str, str]:
    """Each trace by its file's name."""
    return {
        name: f"# made by tools/traces.py, seed `{name}`\n"
        + "".join(f"{line}\n" for line in make(random.Random(name)))
        for name, make in TRACES.items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text)
