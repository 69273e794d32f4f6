"""What everything may use: words, outputs, interruption, loading when needed."""
