"""BBR's share beside CUBIC, against what others have measured and derived (docs/bbr.md)."""

from __future__ import annotations

import json

import pytest
from benchmarks import bbr

PATH = ("10Mbps", "40ms")


@pytest.mark.parametrize("buffer", [2.0, 8.0, 16.0])
@pytest.mark.parametrize(("cc", "errors"), [("bbr", 1), ("bbr3", 2)])
def test_a_share_is_about_what_was_measured_on_a_testbed(
    cc: str, errors: int, buffer: float
) -> None:
    """Within the error of the field's own model: of Linux's BBR once, of the draft's twice."""
    data = json.loads(bbr.PUBLISHED.read_text(encoding="utf-8"))
    printed = bbr.published(data, cc, *PATH)[buffer]
    found = [bbr.share("native", bbr.competition(cc, *PATH, buffer, seed)) for seed in (1, 2, 3)]
    assert sum(found) / 3 == pytest.approx(printed.mean, abs=errors * bbr.ERROR)


def test_the_model_is_that_of_the_paper() -> None:
    """Ware et al., equations 9 to 11, by hand: 64 products are 2,133 packets and 2.56 s."""
    share = (1 - (0.5 - 1 / 128 - 4 / 2133.3)) * (1 - (2.56 + 0.2 + 0.04) / 10)
    assert bbr.model(*PATH, 64) == pytest.approx(share, rel=1e-4)
    # With one product CUBIC's part would be negative: BBR has all.
    assert bbr.model(*PATH, 1) == pytest.approx(1 - 0.28 / 10)
    assert bbr.model(*PATH, 0.5) is None


def test_two_percent_of_random_loss_are_more_than_bbr3_bears() -> None:
    """Its goal is 1 % (draft-ietf-ccwg-bbr-06, section 2.1); BBRv1 asks no loss."""
    assert bbr.under_losses("bbr3", 0.01, 1) > 0.7
    assert bbr.under_losses("bbr3", 0.02, 1) < 0.6
    assert bbr.under_losses("bbr", 0.02, 1) > 0.9
    # A window of 208 packets loses more than 4 of them.
    assert bbr.spoiled(0.02) == pytest.approx(0.40, abs=0.01)
