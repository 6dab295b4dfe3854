"""How large the offline agent and its reading of questions are: lines, regular expressions, named numbers.

python -m benchmarks.size
"""

from __future__ import annotations

import re
from pathlib import Path

import engine

ROOT = Path(engine.__file__).parent
COUNTED = ("agent/offline", "agent/evidence", "agent/hops.py", "question")
_NUMBER = re.compile(r"^_?[A-Z][A-Z_, ]*(?:: [^=]+)? = .*\d", re.MULTILINE)


def counts(place: Path) -> tuple[int, int, int]:
    """Lines, compiled expressions, and constants whose value has a number."""
    texts = [path.read_text(encoding="utf-8") for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]
    return (
        sum(text.count("\n") for text in texts),
        sum(text.count("re.compile(") for text in texts),
        sum(len(_NUMBER.findall(text)) for text in texts),
    )


def main() -> None:
    found = {name: counts(ROOT / name) for name in COUNTED}
    found["together"] = (0, 0, 0)
    for row in list(found.values()):
        found["together"] = tuple(a + b for a, b in zip(found["together"], row, strict=True))
    for name, (lines, expressions, numbers) in found.items():
        print(f"{name:16} {lines:6} lines {expressions:4} expressions {numbers:4} numbers")


if __name__ == "__main__":
    main()
