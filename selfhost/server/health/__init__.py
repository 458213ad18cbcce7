"""Whether the models can do their work: by what they do, and by tests of their own."""
