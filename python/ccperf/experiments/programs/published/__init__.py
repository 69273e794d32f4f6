"""The programs of the published ccperf: their options, what these mean, and the way back."""
