"""Texts as vectors: POST /v1/embeddings."""
