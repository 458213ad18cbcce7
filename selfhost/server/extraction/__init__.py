"""Entities in a text: names, dates, places and numbers, each with where it stands."""
