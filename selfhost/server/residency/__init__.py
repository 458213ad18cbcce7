"""Which models are in memory: one budget for all of them, reserved before a load, freed by need."""
