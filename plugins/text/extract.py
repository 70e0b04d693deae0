"""Extractive summaries: which sentences of a text say most of what it says.

```
text -> sentences -> words (pairs of characters, where a script writes no blanks)
     -> weight of a word: how often it occurs, less what occurs everywhere
     -> best sentence, then the words it used count less, then the next best ..   (SumBasic)
     -> the chosen sentences in the order of the text
```

Everything is linear in the length of the text, but for the choice, which is linear in the number
of sentences for each sentence chosen.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter

MAX_CHARS = 1_000_000
"""Of a longer text only the head and the tail are looked at, half each."""

_MAX_SENTENCE = 600
_MAX_WORDS = 400
_MAX_CANDIDATES = 2_000
_MAX_ABBREVIATION = 12

# Ends of sentences in most scripts; a Latin stop needs a blank after it (3.14, example.org). Runs
# are matched whole or not at all (`++`): a million dots cost no more than a million letters.
_END = re.compile(
    r"[。！？；｡؟۔।॥။։።]++[”’」』）\"')\]]*+"
    r"|(?<![.!?…])[.!?…]++[”’\"')\]]*+(?=\s)"
    r"|\n\n|\n(?=[-*•#>|]|\d{1,4}[.)]\s)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|cf|No|Nr|Fig|al|approx|bzw|z\.B|d\.h|ca"
    r"|Inc|Ltd|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec))\.$"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_BLANKS = re.compile(r"\s++")

# Scripts that write no blanks between words: their words are pairs of characters.
_UNSPACED = (
    (0x3040, 0x30FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3134F),
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
)


def summarize(text: str, *, sentences: int, max_chars: int) -> str:
    """Return the summary after a line that says how it was made."""
    text = text.strip()
    looked_at = _bounded(text)
    found = split_sentences(looked_at)
    if not found:
        return "Summary (no model used): the text is empty."
    length = f"{len(text):,} characters"
    if len(text) <= max_chars and len(found) <= sentences:
        return f"Summary (no model used; the whole text, {length}):\n{text}"
    chosen = choose_sentences(found, sentences, max_chars)
    how = (
        f"Summary (no model used; {len(chosen)} of {len(found):,} sentences, chosen by the"
        f" frequency of their words; {length}"
    )
    if len(looked_at) < len(text):
        how += f", of which the middle {len(text) - MAX_CHARS:,} were not read"
    body = _joined([found[index] for index in chosen], max_chars)
    return f"{how}):\n{body}"


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences, headings and list items; blanks are folded."""
    pieces: list[str] = []
    start = 0
    text = _BLANKS.sub(_folded, text)
    for end in _END.finditer(text):
        before = text[max(start, end.end() - _MAX_ABBREVIATION) : end.end()]
        if end[0].startswith(".") and _ABBREVIATION.search(before):
            continue
        pieces.append(text[start : end.end()])
        start = end.end()
    pieces.append(text[start:])
    lines = (piece.replace("\n", " ").strip() for piece in pieces)
    # A piece without any letter (a rule, a stray quote) is no sentence.
    return [line for line in lines if any(character.isalnum() for character in line)]


def choose_sentences(sentences: list[str], count: int, max_chars: int) -> list[int]:
    """The indexes of the sentences that say most, in order; at least one."""
    words = [_words(sentence) for sentence in sentences]
    weights = _weights(words)

    def score(index: int) -> float:
        own = words[index]
        told = sum(weights[word] for word in own) / (len(own) + 1) ** 0.7
        # What comes first usually says what the text is about.
        return told * (1.0 + 0.3 / (1.0 + index))

    candidates = sorted(range(len(sentences)), key=score, reverse=True)[:_MAX_CANDIDATES]
    chosen: list[int] = []
    used = 0
    while candidates and len(chosen) < count:
        best = max(candidates, key=score)
        candidates.remove(best)
        length = min(len(sentences[best]), _MAX_SENTENCE) + 1
        if chosen and used + length > max_chars:
            continue
        chosen.append(best)
        used += length
        for word in words[best]:
            weights[word] *= 0.2
    return sorted(chosen)


def _weights(words: list[frozenset[str]]) -> dict[str, float]:
    """How much a word says: frequent in the text, and not in nearly every sentence of it."""
    containing: Counter[str] = Counter()
    for own in words:
        containing.update(own)
    total = len(words)
    return {
        word: count * math.log((total + 1) / (count + 0.5)) for word, count in containing.items()
    }


def _words(sentence: str) -> frozenset[str]:
    words: set[str] = set()
    for match in _WORD.finditer(unicodedata.normalize("NFKC", sentence).casefold()):
        word = match[0]
        if any(map(_is_unspaced, word[:2])):
            words.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif len(word) > 1:
            words.add(word)
        if len(words) >= _MAX_WORDS:
            break
    return frozenset(words)


def _is_unspaced(character: str) -> bool:
    code = ord(character)
    return any(low <= code <= high for low, high in _UNSPACED)


def _folded(blanks: re.Match[str]) -> str:
    breaks = blanks[0].count("\n")
    return "\n\n" if breaks > 1 else "\n" if breaks else " "


def _bounded(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    half = MAX_CHARS // 2
    return f"{text[:half]}\n\n{text[-half:]}"


def _joined(sentences: list[str], max_chars: int) -> str:
    lines: list[str] = []
    for sentence in sentences:
        limit = min(_MAX_SENTENCE, max_chars)
        lines.append(sentence if len(sentence) <= limit else f"{sentence[: limit - 1].rstrip()}…")
    return "\n".join(lines)
