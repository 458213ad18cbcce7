"""Chat answers by a small generator, whose engine is a child process."""
