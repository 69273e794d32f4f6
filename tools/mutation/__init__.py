"""One-line mistakes in the engine: where they can be made, an engine with all of them, and what
notices each.  `tools/mutants.py` is the command.
"""
