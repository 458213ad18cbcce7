"""Passages in the order in which they answer a question: POST /v1/rerank."""
