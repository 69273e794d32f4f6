"""Example programs of ns-3 that run here: one file each or each kind, one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs.ns3_examples import (
    cobalt_vs_codel,
    codel_vs_pfifo_asymmetric,
    codel_vs_pfifo_basic_test,
    dctcp_example,
    fqcodel_l4s_example,
    queue_discs_benchmark,
    red_variants,
    six_nodes,
    star,
    tbf_example,
    tcp_bbr_example,
    tcp_bulk_send,
    tcp_large_transfer,
    tcp_linux_reno,
    tcp_pacing,
    tcp_validation,
    tcp_variants_comparison,
    traffic_control_example,
)

if TYPE_CHECKING:
    from ccperf.experiments.programs.program import Program

EXAMPLES: dict[str, Program] = {
    program.name: program
    for program in (
        tcp_variants_comparison.PROGRAM,
        tcp_validation.PROGRAM,
        queue_discs_benchmark.PROGRAM,
        dctcp_example.PROGRAM,
        tcp_bbr_example.PROGRAM,
        tcp_bulk_send.PROGRAM,
        tcp_large_transfer.PROGRAM,
        tcp_linux_reno.PROGRAM,
        tcp_pacing.PROGRAM,
        star.STAR,
        star.TCP_STAR_SERVER,
        tbf_example.PROGRAM,
        *red_variants.RED_VARIANTS,
        red_variants.PFIFO_VS_RED,
        six_nodes.PIE_EXAMPLE,
        six_nodes.RED_TESTS,
        six_nodes.ADAPTIVE_RED_TESTS,
        codel_vs_pfifo_basic_test.PROGRAM,
        codel_vs_pfifo_asymmetric.PROGRAM,
        traffic_control_example.PROGRAM,
        cobalt_vs_codel.PROGRAM,
        fqcodel_l4s_example.PROGRAM,
    )
}

__all__ = ["EXAMPLES"]
