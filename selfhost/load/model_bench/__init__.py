"""`make bench-models`: what serving models buys, against running them directly."""
