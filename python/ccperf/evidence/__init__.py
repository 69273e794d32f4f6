"""Evidence: what repetitions with several seeds allow to say, and what they do not.

    sides = cells.by_algorithm(cells.read(["benchmark.db"]), ["TcpNewReno", "TcpCubic"])
    for row in compare.compare(sides, ["mean_srtt_l4"]).rows:
        print(row.experiment, row.verdict, row.size.mean)

A *cell* is one point of an experiment with one algorithm, run with several seeds (`cells`).
`summary` gives its mean with a confidence interval, `paired` the difference of two cells over the
same seeds, `compare` all differences of several sides with a correction for their number, `verdict`
what a row of them is called and how large it is, `gate` says which of them must not be.

Student's t is computed here (`student`), in sixty lines that are tested against tables: that is all
that would be needed of SciPy, which is several times as large as the rest of the installation.
"""
