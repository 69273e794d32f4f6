"""The Python interface: `run` and `simulate` make one run, `grid` and `bench` many; `compare` says
which is better.

>>> import ccperf
>>> result = ccperf.run("aqm", cc="TcpNewReno", k=5, qdisc="FqCoDelQueueDisc")  # doctest: +SKIP
>>> result.flow_metrics["flow_1"]["mean_throughput_l4"]  # doctest: +SKIP
14.91...
"""
