"""`make bench`: our worker and the pipeline of LiveKit's own guide, on the same calls."""
