"""Writes `docs/prompts.md`: every prompt of one search of each kind, whole, so that they can be judged.

    python -m benchmarks.prompts

The searches run on the real engine over three short documents; a model that repeats what it reads stands for the
service, so no key is needed. The delimiter's random token is replaced by a fixed one.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import engine
from engine.agent.claude import fence
from engine.agent.claude.prompt_files import SECTIONS, prompt
from engine.settings import EngineSettings, ModelSettings
from tests.fakes.messages_replies import Answer, Received
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import EMPTY, honest, step_of

TARGET = Path(__file__).parent.parent / "docs" / "prompts.md"
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "text": {"type": "string", "is_searchable": True},
    "paper": {"type": "string", "is_filterable": True},
    "published": {"type": "datetime", "is_filterable": True},
}
DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "gazette-1",
        "title": "The bridge is paid for",
        "text": "The Pellam bridge was long in planning. It cost 12 million crowns, the mayor said.",
        "paper": "Harbour Gazette",
        "published": "1987-05-04",
    },
    {
        "id": "times-1",
        "title": "Who pays?",
        "text": "Costs of the Pellam bridge ran to 14 million crowns. Critics had warned for years.",
        "paper": "Coastal Times",
        "published": "1987-05-06",
    },
    {
        "id": "times-2",
        "title": "The viaduct",
        "text": "The Orrin viaduct has carried trains since 1902. Its cost was never published.",
        "paper": "Coastal Times",
        "published": "1990-01-10",
    },
]
QUESTION = {"objective": "Did the papers report different costs for the Pellam bridge?", "context": "Cite each paper."}
KINDS = ("one round", "two rounds and a repair", "a question back", "a follow-up")


def scripted(kind: str) -> Any:
    """Replies that bring about a search of this kind."""
    asked: list[str] = []

    def answer(received: Received) -> Answer:
        step = step_of(received)
        asked.append(step)
        reply = honest(step, received)
        if kind == "one round" and step == "answer":
            text = "The mayor put the cost at 12 million crowns."
            reply["sentences"].append({"text": text, "findings": [1], "computed": []})
        if kind == "two rounds and a repair" and step == "answer":
            if asked.count("answer") == 1:
                query = {"text": "Orrin viaduct cost", "sub_question": 0, "mode": "hybrid", "conditions": []}
                return Answer({**EMPTY, "queries": [query]})
            reply["sentences"].append({"text": "It cost 99 million crowns.", "findings": [1], "computed": []})
        if kind == "a question back" and step == "clarify":
            options = ["Harbour Gazette", "Coastal Times"]
            return Answer({"needed": True, "question": "Which papers did report?", "options": options})
        return Answer(reply)

    return answer


def prompts_of(kind: str) -> list[tuple[str, str, str]]:
    """Step, model and user text of each call of a search, in order of arrival."""
    with (
        FakeMessages(scripted(kind)) as server,
        tempfile.TemporaryDirectory() as directory,
        # The provider's own address, as far as the settings know: others are sent the schema in words too.
        mock.patch.dict(os.environ, {"ANTHROPIC_BASE_URL": server.url}),
        engine.open(directory, settings=EngineSettings(llm=ModelSettings(api_key=server.key))) as quarry,
    ):
        quarry.upsert("papers", DOCUMENTS, schema=SCHEMA)
        response = quarry.search("papers", **QUESTION, multiturn=kind == "a question back")
        if kind == "a follow-up":
            server.requests.clear()
            quarry.continue_search("papers", response.session_id, message="And which did critics expect?")
        return [(step_of(r), r.body["model"], r.user) for r in server.requests]


def main() -> int:
    fence.secrets.token_hex = lambda _=None: "0123456789abcdef"
    parts = [
        "# Prompts",
        "Every prompt of one search of each kind, whole, as `python -m benchmarks.prompts` writes them. The system",
        "text of a step is the rules and its sections, the same in every call. User blocks follow each other without a",
        "mark between them. A model at an address of one's own is sent the JSON schema of the reply in words too, as",
        "the last block.",
        "",
        "| step | behind the rules |",
        "|---|---|",
        *(f"| {step} | {', '.join(sections)} |" for step, sections in SECTIONS.items()),
        "",
        "## Rules\n\n````text\n" + prompt("rules") + "\n````",
        *(
            f"\n## Section {name}\n\n````text\n{prompt(name)}\n````"
            for name in dict.fromkeys(sum(SECTIONS.values(), ()))
        ),
    ]
    for kind in KINDS:
        parts.append(f"\n## {kind.capitalize()}")
        for number, (step, model, user) in enumerate(prompts_of(kind), 1):
            parts.append(f"\n### {number}. {step} ({model})\n\n````text\n{user}\n````")
    TARGET.write_text("\n".join(parts) + "\n", encoding="utf-8")
    print(f"wrote {TARGET.name}: {sum(map(len, parts)):,} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
