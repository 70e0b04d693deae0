"""Summaries of text, made on this machine and without a model."""

from __future__ import annotations


def summarize_text(content: str, sentences: int = 5, max_chars: int = 2000) -> str:
    """Return the most telling sentences of a text after a line that says how they were chosen."""
    from .extract import summarize

    return summarize(content, sentences=sentences, max_chars=max_chars)
