"""Algorithms that users bring.

``names`` is about what they are called, ``content`` about what is in their files, ``loading`` makes
objects of their classes, in the process that runs them. Names know nothing of files' contents, and
neither knows how anything is run.
"""
