"""Depth, tokens, cache and cost of ten recorded searches on a model; needs no key and no network.

    python -m benchmarks.agent --recorded

Ten questions over twelve short documents go through whole searches of the real engine and SDK. The service is the fake
of the tests: it answers by script, in words that are not the documents' own, so that every step runs; it keeps
prefixes for reuse as the service does, least lengths included, and counts tokens as characters by four. Six searches
need one round, three a second one, and in one the model writes a figure that stands nowhere and is asked to mend it.

- calls: requests that the service saw. depth: the longest chain of them in which each began after the one before it had
  been answered, from the times at which they came in.
- seconds: the time of the longest chain, each call as long as `LATENCY_S` says for its step. These are assumptions in
  the proportions of such models, not measurements of a service; they compare two designs, no more.
- in, read, out: input tokens with those read from the cache, the share read from it, output tokens without thinking.
- cost: at list prices, reads from the cache at a tenth, writes at five quarters; uncached: the same without a cache.
  The first search finds nothing cached and is told apart.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest import mock

import engine
from engine.settings import EngineSettings, ModelSettings
from tests.fakes.messages_replies import Answer, Received
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import honest, step_of
from tests.fakes.prefix_cache import CHARACTERS_A_TOKEN, PrefixCache

LATENCY_S = {"plan": 4.0, "read": 3.0, "judge": 4.0, "answer": 8.0, "synthesize": 8.0, "check": 2.0, "repair": 5.0}
"""Of one call of each step. ``judge`` and ``synthesize`` are steps of an earlier design, measured for comparison."""
SCALE = 0.05
"""How long the fake really waits for a second of those."""
PRICES = {"claude-sonnet-5-5": (2.0, 10.0), "claude-haiku-5-5": (0.1, 0.5)}
"""US dollars a million tokens, input and output."""
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "text": {"type": "string", "is_searchable": True},
    "paper": {"type": "string", "is_filterable": True},
    "published": {"type": "datetime", "is_filterable": True},
}
TEXTS = [
    "The Pellam bridge was long in planning. It cost 12 million crowns, the mayor said when it opened.",
    "Costs of the Pellam bridge ran to 14 million crowns. Critics had warned of that for years.",
    "The Orrin viaduct has carried trains since 1902. Its cost was never published by the railway.",
    "The ferry to Ness sails at nine and at five. It does not sail on Sundays between November and March.",
    "A ticket for the ferry to Ness costs 14 crowns. Children under twelve travel free of charge.",
    "The lighthouse of Storr was built in 1841 after the wreck of the Heather. It stands 31 metres high.",
    "The lamp of the Storr lighthouse became automatic in 1987. No keeper has lived there since.",
    "Helena Brandt drew the Pellam bridge and nine others. She died in 2019, aged 91.",
    "The museum of tides opens daily but Mondays. A family ticket costs 20 crowns.",
    "The dam at Orrin holds 12 million cubic metres. It supplies the town of Storr with water.",
    "Wind turbines off Calder Bank were approved in 2021. The fishermen of Ness had objected.",
    "The rowing club of Storr sold its old boathouse in 2022. The money paid for two new boats.",
]
DOCUMENTS = [
    {
        "id": f"paper-{n}",
        "title": f"Report {n}",
        "text": text,
        "paper": ("Harbour Gazette", "Coastal Times")[n % 2],
        "published": f"20{n + 8:02}-05-04",
    }
    for n, text in enumerate(TEXTS)
]
QUESTIONS = [
    ("Did the papers report different costs for the Pellam bridge?", "one round, nothing cached"),
    ("When does the ferry to Ness sail?", "one round"),
    ("What does a ticket for the ferry to Ness cost?", "one round"),
    ("How tall is the lighthouse of Storr and when was it built?", "one round"),
    ("Who drew the Pellam bridge?", "one round"),
    ("Which works were reported on in the Coastal Times?", "one round"),
    ("Where does the water of Storr come from, and who objected to the turbines?", "two rounds"),
    ("What happened to the boathouse, and what was done with the money?", "two rounds"),
    ("Has the lighthouse of Storr a keeper, and since when not?", "two rounds"),
    ("What did the Orrin viaduct cost?", "a repair"),
]
INVENTED = "It is on record that the cost was 99 million crowns."


class Call(NamedTuple):
    """One request as the service saw it."""

    step: str
    model: str
    start: float
    end: float
    input: int
    read: int
    written: int
    output: int


@dataclass
class Recorder:
    """The service's side of one engine: answers, and remembers what was asked."""

    kind: str = ""
    calls: list[Call] = field(default_factory=list)
    cache: PrefixCache = field(default_factory=PrefixCache)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, kind: str) -> None:
        """A search of that kind begins; the cache stays."""
        self.kind, self.calls = kind, []

    def __call__(self, received: Received) -> Answer:
        with self.lock:
            step, now = step_of(received), time.monotonic()
            reply = self._reply(step, received)
            counts = self.cache.count(received.body)
            written = len(json.dumps(reply)) // CHARACTERS_A_TOKEN
            delay = LATENCY_S.get(step, 1.0) * SCALE
            model = received.body["model"]
            self.calls.append(Call(step, model, now, now + delay, counts.input, counts.read, counts.written, written))
        return Answer(
            reply,
            input_tokens=counts.input,
            output_tokens=written,
            cache_read=counts.read,
            cache_write=counts.written,
            delay_s=delay,
        )

    def _reply(self, step: str, received: Received) -> dict[str, Any]:
        reply = honest(step, received)
        is_first = not any(call.step == step for call in self.calls)
        if self.kind == "two rounds" and is_first and step in ("answer", "judge"):
            query = {"text": "boathouse lamp turbines water", "sub_question": 0, "mode": "hybrid", "conditions": []}
            if step == "judge":
                return {**reply, "sufficient": False, "queries": [{**query, "sub_question": 1}]}
            return {**reply, "findings": [], "sentences": [], "queries": [query]}
        for sentence in reply.get("sentences", ()):
            sentence["text"] = f"It is on record that {sentence['text']}"
        if self.kind == "a repair" and is_first and step in ("answer", "synthesize") and reply["sentences"]:
            reply["sentences"].append({**reply["sentences"][0], "text": INVENTED})
        return reply


def depth(calls: list[Call]) -> int:
    """Calls of the longest chain in which each began after the one before had been answered."""
    return int(_longest(calls, lambda _: 1.0))


def seconds(calls: list[Call]) -> float:
    """How long the longest chain takes."""
    return _longest(calls, lambda call: LATENCY_S.get(call.step, 1.0))


def _longest(calls: list[Call], weight: Any) -> float:
    lengths: list[float] = []
    ordered = sorted(calls, key=lambda call: call.start)
    for place, call in enumerate(ordered):
        before = [lengths[n] for n in range(place) if ordered[n].end <= call.start]
        lengths.append(weight(call) + max(before, default=0.0))
    return max(lengths, default=0.0)


def cost(calls: list[Call]) -> float:
    """US dollars at list price."""
    return sum(
        ((c.input + 0.1 * c.read + 1.25 * c.written) * PRICES[c.model][0] + c.output * PRICES[c.model][1]) / 1e6
        for c in calls
    )


def uncached(calls: list[Call]) -> float:
    """US dollars at list price where nothing is cached."""
    return cost([call._replace(input=call.input + call.read + call.written, read=0, written=0) for call in calls])


def recorded(
    questions: Sequence[tuple[str, str]] = QUESTIONS, more: Sequence[dict[str, Any]] = ()
) -> list[tuple[str, str, list[Call]]]:
    """Question, kind and calls of each search, over `DOCUMENTS` and `more`."""
    recorder = Recorder()
    searches: list[tuple[str, str, list[Call]]] = []
    with FakeMessages(recorder) as server, tempfile.TemporaryDirectory() as directory:
        # The provider's own address, as far as the settings know: what is sent there is measured.
        settings = EngineSettings(agent="claude", llm=ModelSettings(api_key=server.key))
        with (
            mock.patch.dict(os.environ, {"ANTHROPIC_BASE_URL": server.url}),
            engine.open(directory, settings=settings) as quarry,
        ):
            quarry.upsert("papers", [*DOCUMENTS, *more], schema=SCHEMA)
            for question, kind in questions:
                recorder.begin(kind)
                response = quarry.search("papers", objective=question, context="Questions about a small town.")
                if response.status != "completed" or "rules and extraction" in response.synthesis:
                    raise RuntimeError(f"not answered by the model: {question}")
                searches.append((question, kind, recorder.calls))
    return searches


def table(searches: list[tuple[str, str, list[Call]]]) -> str:
    """A row a search, and their means."""
    lines = [
        "| search | calls | depth | seconds | in | read | out | cost | uncached |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for question, kind, calls in searches:
        lines.append(_row(f"{question} ({kind})", [calls]))
    kinds = dict.fromkeys(kind for _, kind, _ in searches)
    means = {f"**{kind}**, mean": [calls for _, other, calls in searches if other == kind] for kind in kinds}
    means["**all**, mean"] = [calls for *_, calls in searches]
    return "\n".join([*lines, *(_row(name, each) for name, each in means.items())])


def _row(name: str, searches: list[list[Call]]) -> str:
    n = len(searches)
    calls = [call for each in searches for call in each]
    given = sum(call.input + call.read + call.written for call in calls)
    read, out = sum(call.read for call in calls), sum(call.output for call in calls)
    deep = f"{sum(map(depth, searches)) / n:.3g}"
    cells = [f"{len(calls) / n:.3g}", deep, f"{sum(map(seconds, searches)) / n:.1f}", f"{given / n:,.0f}"]
    dollars = [f"${sum(map(price, searches)) / n:.4f}" for price in (cost, uncached)]
    return f"| {name} | {' | '.join(cells)} | {read / given:.2f} | {out / n:,.0f} | {' | '.join(dollars)} |"


def main() -> int:
    print(table(recorded()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
