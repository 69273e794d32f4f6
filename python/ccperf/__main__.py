"""``python -m ccperf``."""

from ccperf.cli import main

main()
