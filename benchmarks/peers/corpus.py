"""Passages, vectors and questions that every system gets, as files: each may run under an interpreter of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WORDS = 60
DIMENSION = 256
TOPICS = 400
QUESTIONS = 600
BUCKETS = 1_000
SHARES = (0.001, 0.01, 0.1, 0.5)
"""Of the passages, what the filters ``bucket < share * BUCKETS`` allow."""
K = 10


@dataclass(frozen=True)
class Corpus:
    """Passage n has text n, row n and bucket ``n % BUCKETS``; question n has vector n."""

    texts: list[str]
    vectors: np.ndarray
    questions: list[str]
    question_vectors: np.ndarray

    @property
    def buckets(self) -> np.ndarray:
        return np.arange(len(self.texts)) % BUCKETS

    def nearest(self, question: int, share: float = 1.0) -> set[int]:
        """The `K` nearest passages, exactly."""
        allowed = np.flatnonzero(self.buckets < share * BUCKETS)
        scores = self.vectors[allowed] @ self.question_vectors[question]
        return set(allowed[np.argsort(-scores)[:K]].tolist())


def make(folder: Path, count: int, seed: int) -> None:
    """Write a corpus of `count` passages: Zipf words in topics, and vectors around the topics' centres."""
    rng = np.random.default_rng(seed)
    words = np.array([f"{a}{b}{c}" for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES])
    rng.shuffle(words)
    ranks = np.arange(1, len(words) + 1)
    common = 1 / ranks / (1 / ranks).sum()
    own = rng.integers(0, len(words), (TOPICS, 300))
    weights = 1 / np.arange(1, TOPICS + 1)
    topics = rng.choice(TOPICS, count + QUESTIONS, p=weights / weights.sum())
    spread = np.arange(1, DIMENSION + 1) ** -0.3
    centres = rng.standard_normal((TOPICS, DIMENSION)) * spread
    vectors = (centres[topics] + 1.2 * rng.standard_normal((len(topics), DIMENSION)) * spread).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.save(folder / "vectors.npy", vectors)
    with (folder / "texts.jsonl").open("w", encoding="utf-8") as file:
        for topic in topics.tolist():
            # A question is seven words of its topic; a passage half of them and half of all.
            chosen = rng.choice(len(words), WORDS, p=common)
            mine = own[topic, rng.integers(0, 300, WORDS)]
            text = " ".join(words[np.where(rng.random(WORDS) < 0.5, chosen, mine)].tolist())
            file.write(json.dumps(text) + "\n")


def load(folder: Path) -> Corpus:
    """What `make` wrote."""
    texts = [json.loads(line) for line in (folder / "texts.jsonl").read_text(encoding="utf-8").splitlines()]
    vectors = np.load(folder / "vectors.npy")
    count = len(texts) - QUESTIONS
    questions = [" ".join(sorted(set(text.split()), key=text.index)[:7]) for text in texts[count:]]
    return Corpus(texts[:count], vectors[:count], questions, vectors[count:])


_SYLLABLES = [a + b for a in "bdfgklmnprst" for b in "aeio"][:28]
