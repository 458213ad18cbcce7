"""A call's figures for the tools that watch many calls: Prometheus and OpenTelemetry.

All of it listens to the call's timeline, as the page and the recording do, so that the three show
the same figures by the same names. No caller's words are in any of it.
"""
