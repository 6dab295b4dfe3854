"""Six short articles in nine languages that no collection at hand holds, each with questions and a near miss.

The same invented volcano, painter, railway, bee, state and medicine in each language, one JSON file a language, in the
style of an encyclopaedia. Questions to articles that are not indexed are those of another subject.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def paragraphs(language: str) -> list[dict[str, Any]]:
    """Paragraphs as ``{"id", "article", "body", "questions", "near"}``; a question is its text and its answer."""
    held = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return [
        {
            "id": f"p{number}",
            "article": p["article"],
            "body": p["text"],
            "questions": p["questions"],
            "near": p.get("near", []),
        }
        for number, p in enumerate(held)
    ]
