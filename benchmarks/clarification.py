"""When the offline agent asks back, over a collection made for it, and whether the answer is right once it was told.

    python -m benchmarks.clarification             both halves of the collection, half a minute
    python -m benchmarks.clarification --show      the questions that went wrong

The collection is generated with a fixed seed: manuals of products, yearly reports of companies, people who share a
name, guides to towns, and news of several sources. A question is *ambiguous* when several documents answer it in
different ways and nothing in it says which is meant; *clear* questions name the product or the year, say it in the
context, ask across all of them, or have one answer only. `dev` and `test` use other names, attributes and wordings;
settings are chosen on `dev`.

- recall: share of ambiguous questions that are asked back. precision: share of questions asked back that are ambiguous.
- options: share of questions asked back whose options hold the one that is meant.
- settled: share of them that, once told the option, cite the document that is meant first and no other reading's.
- alone: share of all questions that end without one back when the client allows none (`multiturn` false).
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine

SEED = 20261121
CONTEXT = "Answer from the documents."


@dataclass
class Vocabulary:
    """Names and wordings of one half."""

    product: str
    products: Sequence[str]
    maker: str
    company: str
    companies: Sequence[str]
    year: str
    town: str
    towns: Sequence[str]
    people: Sequence[tuple[str, Sequence[tuple[str, str]]]]
    source: str
    sources: Sequence[str]
    events: Sequence[tuple[str, str, str]]
    product_facts: Sequence[tuple[str, str, str]]
    report_facts: Sequence[tuple[str, str, str]]
    town_facts: Sequence[tuple[str, str, str]]


DEV = Vocabulary(
    product="model",
    products=["Aurora 300", "Borealis 50", "Cascade Pro", "Dune Mini"],
    maker="Kettlewright",
    company="company",
    companies=["Northwind Logistics", "Halden Foods"],
    year="fiscal_year",
    town="city",
    towns=["Marlowe", "Quillhaven", "Strandby"],
    people=[
        (
            "Robert Hale",
            [
                ("chemist", "He studied chemistry in Leeds and discovered the Hale reaction in {n}."),
                ("footballer", "He played football for Dorby County and scored {n} goals."),
            ],
        ),
        (
            "Anna Lindqvist",
            [
                ("architect", "She designed {n} libraries and was born in Uppsala."),
                ("novelist", "She wrote {n} novels and was born in Malmö."),
            ],
        ),
    ],
    source="source",
    sources=["Daily Ledger", "Morning Courier", "Harbour Times"],
    events=[
        ("harbour bridge", "opened after two years of repairs", "When did the harbour bridge open again?"),
        ("tram strike", "ended with a raise of pay for drivers", "How did the tram strike end?"),
        ("museum fire", "destroyed the north wing on Monday", "What did the museum fire destroy?"),
    ],
    product_facts=[
        ("The warranty of the kettle lasts {n} months.", "How long does the warranty last?", "warranty"),
        ("The battery runs for {n} hours on one charge.", "How long does the battery run on one charge?", "battery"),
        ("The tank holds {n} millilitres of water.", "How much water does the tank hold?", "tank"),
    ],
    report_facts=[
        ("Revenue of the group rose to {n} million euros.", "What was the revenue of the group?", "revenue"),
        ("At the end of the period {n} people were employed.", "How many people were employed?", "employed"),
    ],
    town_facts=[
        ("The old town has {n} churches.", "How many churches does the old town have?", "churches"),
        ("Buses to the airport leave every {n} minutes.", "How often do buses to the airport leave?", "buses"),
    ],
)
TEST = Vocabulary(
    product="device_name",
    products=["Tarn X1", "Fell X2", "Beck X3", "Moor X4", "Gill X5"],
    maker="Oakridge Audio",
    company="issuer",
    companies=["Vantaa Paper", "Selmer Shipping", "Okanogan Energy"],
    year="period",
    town="municipality",
    towns=["Ardglen", "Bruckstadt", "Castelnou", "Delvento"],
    people=[
        (
            "Maria Torres",
            [
                ("judge", "She served {n} years on the bench of Granada and studied law."),
                ("swimmer", "She won {n} medals in swimming for Chile."),
            ],
        ),
        (
            "James Okoro",
            [
                ("engineer", "He built {n} dams and held a chair of hydraulics."),
                ("painter", "He painted {n} murals and taught at an academy of art."),
            ],
        ),
    ],
    source="outlet",
    sources=["The Vale Post", "Wire & Quill", "Coastline Radio"],
    events=[
        (
            "ferry collision",
            "left eleven passengers with light injuries",
            "How many passengers did the ferry collision injure?",
        ),
        ("orchard festival", "was moved to the second week of May", "When will the orchard festival take place?"),
        ("dam inspection", "found cracks in the eastern wall", "What did the dam inspection find?"),
    ],
    product_facts=[
        ("To pair the headphones, press the round key for {n} seconds.", "How do I pair the headphones?", "pair"),
        ("The headphones weigh {n} grams without their cable.", "What do the headphones weigh?", "weigh"),
        ("A full charge takes {n} minutes at the wall socket.", "How long does a full charge take?", "charge"),
    ],
    report_facts=[
        ("The board proposes a dividend of {n} cents a share.", "Which dividend does the board propose?", "dividend"),
        ("Emissions of the plants fell by {n} per cent.", "By how much did emissions of the plants fall?", "emissions"),
    ],
    town_facts=[
        ("The public pool opens at {n} in the morning.", "When does the public pool open?", "pool"),
        ("Dogs need a licence that costs {n} crowns.", "What does a licence for dogs cost?", "dogs"),
    ],
)
FILLER = [
    "Read this part before you begin.",
    "More is said in the annex.",
    "The following pages explain it step by step.",
    "Nothing else changed since the last edition.",
    "Please keep this page for later.",
]


@dataclass
class Case:
    """A question; `means` is the id of the document that is meant, `option` a word of its option."""

    objective: str
    kind: str
    context: str = CONTEXT
    means: str = ""
    option: str = ""
    others: tuple[str, ...] = ()

    @property
    def is_ambiguous(self) -> bool:
        return self.kind.startswith("ambiguous")


def build(words: Vocabulary, rng: random.Random) -> tuple[list[dict[str, Any]], dict[str, Any], list[Case]]:
    """Documents, schema and questions of one half."""
    documents: list[dict[str, Any]] = []
    cases: list[Case] = []

    def add(title: str, body: str, **attributes: Any) -> str:
        documents.append({"id": f"d{len(documents)}", "title": title, "body": body, **attributes})
        return f"d{len(documents) - 1}"

    def padded(sentences: Sequence[str]) -> str:
        return " ".join(part for sentence in sentences for part in (sentence, rng.choice(FILLER)))

    numbers = iter(rng.sample(range(11, 990), 400))
    manuals = {
        name: add(
            f"{name} manual",
            padded(
                [
                    f"This is the manual of the {words.maker} {name}.",
                    *(f.format(n=next(numbers)) for f, _, _ in words.product_facts),
                ]
            ),
            **{words.product: name},
        )
        for name in words.products
    }
    for _, asked, _ in words.product_facts:
        meant = rng.choice(list(words.products))
        rest = tuple(d for name, d in manuals.items() if name != meant)
        cases.append(Case(asked, "ambiguous product", means=manuals[meant], option=meant, others=rest))
        cases.append(Case(f"{asked[:-1]} of the {meant}?", "clear: named", means=manuals[meant]))
        cases.append(Case(asked, "clear: in the context", context=f"I bought a {meant} last week."))
        cases.append(Case(f"Compare all {words.product.split('_')[0]}s: {asked.lower()}", "clear: across"))
    for company in words.companies:
        years = {
            year: add(
                f"{company} annual report {year}",
                padded(
                    [f"{company} reports on {year}.", *(f.format(n=next(numbers)) for f, _, _ in words.report_facts)]
                ),
                **{words.company: company, words.year: year},
            )
            for year in (2020, 2021, 2022)
        }
        for _, asked, _ in words.report_facts:
            meant = rng.choice([2020, 2021, 2022])
            rest = tuple(d for year, d in years.items() if year != meant)
            of = f"{asked[:-1]} at {company}?"
            cases.append(Case(of, "ambiguous year", means=years[meant], option=str(meant), others=rest))
            cases.append(Case(f"{of[:-1]} in {meant}?", "clear: named", means=years[meant]))
    for name, roles in words.people:
        ids = {
            role: add(f"{name} ({role})", padded([f"{name} was a {role}.", text.format(n=next(numbers))]))
            for role, text in roles
        }
        meant = rng.choice([role for role, _ in roles])
        rest = tuple(d for role, d in ids.items() if role != meant)
        cases.append(Case(f"Who was {name}?", "ambiguous person", means=ids[meant], option=meant, others=rest))
        cases.append(Case(f"Who was {name} the {meant}?", "clear: named", means=ids[meant]))
    towns = {
        town: add(
            f"Living in {town}",
            padded([f"{town} lies on the river.", *(f.format(n=next(numbers)) for f, _, _ in words.town_facts)]),
            **{words.town: town},
        )
        for town in words.towns
    }
    for _, asked, _ in words.town_facts:
        meant = rng.choice(list(words.towns))
        rest = tuple(d for town, d in towns.items() if town != meant)
        cases.append(Case(asked, "ambiguous town", means=towns[meant], option=meant, others=rest))
        cases.append(Case(f"{asked[:-1]} in {meant}?", "clear: named", means=towns[meant]))
        long = "We are moving house. " * 40
        cases.append(Case(asked, "clear: long context", context=f"{long} Our new home is in {meant}. {long}"))
    for subject, happened, asked in words.events:
        for source in words.sources:
            opening = rng.choice(
                ["Officials said that", "Witnesses confirmed:", "As was known on Friday,", "It is certain:"]
            )
            add(
                f"{subject.capitalize()}: what we know",
                padded(
                    [
                        f"{opening} the {subject} {happened}.",
                        rng.choice(
                            ["Traffic was diverted.", "The mayor thanked all helpers.", "Visitors came from far."]
                        ),
                    ]
                ),
                **{words.source: source, "section": rng.choice(["local", "region"])},
            )
        cases.append(Case(asked, "clear: several sources, one answer"))
    cases.append(Case("Which planets have rings of ice?", "clear: not answered"))
    cases.append(Case("Who invented the steam turbine?", "clear: not answered"))
    label = {"type": "string", "is_filterable": True}
    text = {"type": "string", "is_searchable": True}
    schema = {
        "title": text,
        "body": text,
        **dict.fromkeys((words.product, words.company, words.town, words.source, "section"), label),
        words.year: {"type": "int", "is_filterable": True},
    }
    rng.shuffle(documents)
    return documents, schema, cases


def run(quarry: engine.Engine, namespace: str, cases: Sequence[Case]) -> Iterator[tuple[Case, str, list[str]]]:
    """Each case, what went wrong with it, and the options that it was given."""
    for case in cases:
        response = quarry.search(namespace, objective=case.objective, context=case.context, multiturn=True)
        asked = response.clarification_needed
        options = list(asked.options) if asked else []
        if asked is None:
            yield case, "not asked" if case.is_ambiguous else "", options
            continue
        if not case.is_ambiguous:
            yield case, "asked in vain", options
            continue
        option = next((o for o in options if case.option in o), None)
        if option is None:
            yield case, "option missing", options
            continue
        after = quarry.continue_search(namespace, response.session_id, message=option)
        cited = [result.id for result in after.results]
        is_right = cited[:1] == [case.means] and not set(cited) & set(case.others)
        yield case, "" if is_right else f"settled wrongly: {after.synthesis[:160]}", options


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.2f}" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--show", action="store_true", help="print every question that went wrong")
    options = parser.parse_args()
    for half, words in (("dev", DEV), ("test", TEST)):
        documents, schema, cases = build(words, random.Random(SEED))
        with tempfile.TemporaryDirectory() as folder, engine.open(Path(folder) / "data", agent="offline") as quarry:
            quarry.upsert("made", documents, schema)
            outcomes = list(run(quarry, "made", cases))
            alone = sum(
                quarry.search("made", objective=case.objective, context=case.context).status == "completed"
                for case in cases
            )
        ambiguous = [o for o in outcomes if o[0].is_ambiguous]
        asked = [o for o in outcomes if o[2]]
        rightly = [o for o in asked if o[0].is_ambiguous]
        told = [o for o in rightly if o[1] != "option missing"]
        print(f"{half}: {len(documents)} documents, {len(cases)} questions, seed {SEED}")
        print(f"  recall     {share(len(rightly), len(ambiguous))}")
        print(f"  precision  {share(len(rightly), len(asked))}")
        print(f"  options    {share(len(told), len(rightly))}")
        print(f"  settled    {share(sum(not o[1] for o in told), len(told))}")
        print(f"  alone      {share(alone, len(cases))}")
        for case, fault, given in outcomes:
            if fault and options.show:
                print(f"    {case.kind}: {case.objective} → {fault} {given}")


if __name__ == "__main__":
    main()
