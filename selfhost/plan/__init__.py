"""The memory plan: what models take on a card, before anything is started."""
