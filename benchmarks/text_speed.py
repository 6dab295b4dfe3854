"""How fast values become passages, on one core: ``python -m benchmarks.text_speed [--documents N] [--repeats R]``.

Documents are 200 words (about 1,250 characters) drawn with a fixed seed from a Zipf distribution over 20,000 made-up
words, in sentences of 8 to 28 words and paragraphs of 3 to 6 sentences, under a title of 6 words. Reported are the
median and the spread of the repeats in processor seconds, the first run (empty word table) apart.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import time
from collections.abc import Callable

from engine.analysis.detection import detect_language
from engine.settings import PassageSettings
from engine.text.blocks import blocks
from engine.text.passages import passages
from engine.text.sentences import sentence_bounds
from engine.text.tokens import count_tokens, encoding

WORDS = 200
VOCABULARY = 20_000
SYLLABLES = tuple(
    map("".join, itertools.product(("b", "d", "gr", "k", "l", "m", "pr", "s", "t"), "aeiou", ("", "n", "r", "st")))
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()

    started = time.perf_counter()
    encoding()
    print(f"vocabulary loaded in {1_000 * (time.perf_counter() - started):.1f} ms")

    documents = made_up(arguments.documents)
    bodies = [str(document["body"]) for document in documents]
    settings = PassageSettings()
    found = [draft for document in documents for draft in passages(document, ("title", "body"), settings)]
    characters = statistics.mean(map(len, bodies))
    print(f"{len(documents):,} documents, {len(found):,} passages, {characters:,.0f} characters each")

    def report(name: str, work: Callable[[], object]) -> None:
        seconds: list[float] = []
        for _ in range(arguments.repeats):
            begun = time.process_time()
            work()
            seconds.append(time.process_time() - begun)
        median = statistics.median(seconds)
        spread = f"({min(seconds):.3f}–{max(seconds):.3f})"
        print(f"{name:24} {median:6.3f} s  {spread}  {1e6 * median / len(documents):6.1f} µs each")

    report("passages", lambda: [passages(document, ("title", "body"), settings) for document in documents])
    report("  sentence_bounds", lambda: list(map(sentence_bounds, bodies)))
    report("  count_tokens", lambda: list(map(count_tokens, bodies)))
    report("encode_ordinary", lambda: list(map(encoding().encode_ordinary, bodies)))
    report("blocks of the bodies", lambda: list(map(blocks, bodies)))
    report("detect_language", lambda: list(map(detect_language, bodies)))


def made_up(count: int) -> list[dict[str, object]]:
    """`count` documents with a title and a body, the same on every machine."""
    chance = random.Random(7)
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 3))) for _ in range(VOCABULARY)]
    weights = list(itertools.accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    documents: list[dict[str, object]] = []
    for number in range(count):
        stream = iter(chance.choices(words, cum_weights=weights, k=WORDS))
        paragraphs: list[list[str]] = [[]]
        while sentence := list(itertools.islice(stream, chance.randint(8, 28))):
            if len(paragraphs[-1]) >= chance.randint(3, 6):
                paragraphs.append([])
            paragraphs[-1].append(f"{' '.join(sentence).capitalize()}.")
        title = " ".join(chance.choices(words, cum_weights=weights, k=6)).title()
        body = "\n\n".join(" ".join(paragraph) for paragraph in paragraphs)
        documents.append({"id": str(number), "title": title, "body": body})
    return documents


if __name__ == "__main__":
    main()
