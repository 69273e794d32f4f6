"""What people and other programs look at: figures, notebooks, citations, exports."""
