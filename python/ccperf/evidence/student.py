"""Student's t distribution: probabilities and quantiles, to about 12 digits.

The probability beyond t is a regularised incomplete beta function I_x(a, b), here by its continued
fraction (Abramowitz and Stegun, 26.5.8 and 26.7.1), evaluated by Lentz's method.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

_TINY = 1e-300
_ENOUGH = 1e-15


def beyond(t: float, freedom: int) -> float:
    """Return the probability that |T| is at least |t| with `freedom` degrees of freedom."""
    if freedom < 1:
        raise ValueError(f"{freedom} degrees of freedom; at least 1")
    if math.isinf(t):
        return 0.0
    whole = freedom + t * t
    return _incomplete_beta(freedom / whole, t * t / whole, freedom / 2, 0.5)


@cache
def quantile(confidence: float, freedom: int) -> float:
    """Return the t that |T| stays below with probability `confidence`, e.g. 0.95."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence}; it is between 0 and 1")
    wanted = 1 - confidence
    # Newton's method. It begins below the quantile, since the normal distribution has lighter
    # tails, and stays below it, since the density falls.
    t = -NormalDist().inv_cdf(wanted / 2)
    while (step := (beyond(t, freedom) - wanted) / (2 * _density(t, freedom))) > _ENOUGH * t:
        t += step
    return t


def _density(t: float, freedom: int) -> float:
    half = (freedom + 1) / 2
    front = math.lgamma(half) - math.lgamma(freedom / 2)
    return math.exp(front - half * math.log1p(t * t / freedom)) / math.sqrt(freedom * math.pi)


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """Return I_x(a, b), where `rest` is 1 - x: with x near 1 a difference would lose its digits."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    )
    # The fraction converges quickly on this side of the mean only.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(rest, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            d = 1 / _away_from_zero(1 + part * d)
            c = _away_from_zero(1 + part / c)
            value *= c * d
        if abs(c * d - 1) < _ENOUGH:
            return value
    raise ArithmeticError(f"the incomplete beta function does not converge at {x}, {a}, {b}")


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
