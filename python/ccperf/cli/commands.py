"""The commands, each with what help says of it in a line."""

from __future__ import annotations

#: In the order of `--help`; each is the function `command` of the module of its name.
COMMANDS = {
    "bench": "Run the whole catalogue for algorithms under test, then build the site.",
    "run": "Run an experiment, a grid of its parameters, a plan or a scenario.",
    "new": "Write a template of your own algorithm, with a test.",
    "watch": "Run your algorithm again when its file is saved, and say what changed.",
    "exec": "Run a published ccperf command line, or one of ns-3's TCP and queue examples.",
    "list": "List experiments, algorithms, queue disciplines, metrics, figures, backends.",
    "show": "Explain an experiment, algorithm, queue discipline, metric or run.",
    "runs": "List the runs in a database.",
    "compare": "Compare algorithms, versions or runs, and say whether they really differ.",
    "score": "Rate an algorithm against another in one number.",
    "plot": "Draw the figures of runs.",
    "play": "Open a scenario in the browser and change its settings there.",
    "site": "Build the web site of one or more databases.",
    "export": "Export a database to Parquet, CSV or JSON.",
    "cite": "Write the paragraph on a run that a paper needs, and its citations.",
    "verify": "Compare with the published tables, or with real ns-3 or Linux packet by packet.",
    "diff": "Tell where two runs differ.",
    "doctor": "Say what is installed and which backends are usable.",
    "linux": "Build the Linux kernel that the backend linux runs.",
    "completion": "Print what bash, zsh or fish need to complete commands.",
}
