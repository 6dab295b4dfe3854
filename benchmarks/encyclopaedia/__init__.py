"""A small encyclopaedia of invented people and works, and questions whose evidence lies in two to four paragraphs.

The form is that of 2WikiMultihopQA (Ho et al. 2020): compositional ("the mother of the director of film X"), inference
("the paternal grandfather of P"), comparison ("who was born first, P or Q") and bridge comparison ("which film has the
director who was born first"). Families share a surname, titles share their words, some works share their title, and
most paragraphs answer nothing. The same seed gives the same texts; the words of each language are in a file beside this
one.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
FORMS = ("compositional", "inference", "comparison", "bridge_comparison")
FAMILIES, WORKS, TOWNS, QUESTIONS = 130, 260, 50, 50
"""How many there are in a collection; questions are of each form."""

FILM, COMPANY, KINDS = 0, 3, 4
_ONSETS = ("B", "D", "F", "G", "H", "K", "L", "M", "N", "P", "R", "S", "T", "V", "Br", "St", "Tr", "Kr", "Gr")
_VOWELS = ("a", "e", "i", "o", "u", "au", "ei")
_CODAS = ("l", "n", "r", "s", "m", "nd", "rk", "st", "ll", "nn")
_SURNAME_ENDS = ("berg", "man", "sen", "ow", "ini", "ard", "ley", "ez")
_TOWN_ENDS = ("ness", "holm", "wick", "stad", "mouth", "ora")


@dataclass(frozen=True)
class Asked:
    """A question, the documents that it needs, and its answer."""

    form: str
    text: str
    evidence: frozenset[str]
    answer: str


@dataclass
class Person:
    """A person; relatives are places in the list of people."""

    id: str
    name: str
    woman: bool
    born: tuple[int, int, int]
    place: str
    country: int
    occupation: int
    award: str
    school: str
    died: tuple[int, int, int] | None = None
    father: int | None = None
    mother: int | None = None
    spouse: int | None = None


@dataclass(frozen=True)
class Work:
    """A film, song, novel or company (`kind`); `maker` directed, performed, wrote or founded it."""

    id: str
    title: str
    kind: int
    year: int
    maker: int
    second: int


class Encyclopaedia:
    """The paragraphs of one language and the questions put to them."""

    def __init__(self, language: str, seed: int = 1) -> None:
        self._words: dict[str, Any] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
        self._random = random.Random(f"{language}{seed}")
        self._surnames = self._invented(FAMILIES, _SURNAME_ENDS)
        self._towns = self._invented(TOWNS, _TOWN_ENDS)
        self.people: list[Person] = []
        for surname in self._surnames:
            self._add_family(surname)
        self.works = self._made_works()

    def documents(self) -> list[dict[str, Any]]:
        """People, works and towns as ``{"id", "title", "body"}``, shuffled."""
        found = [{"id": p.id, "title": p.name, "body": self._life(p)} for p in self.people]
        found += [{"id": w.id, "title": w.title, "body": self._work(w)} for w in self.works]
        for number, town in enumerate(self._towns):
            country = self._random.choice(self._words["countries"])[0]
            text = self._random.choice(self._words["town"])
            body = text.format(town=town, country=country, number=self._random.randrange(2, 90) * 1000)
            found.append({"id": f"t{number}", "title": town, "body": body})
        self._random.shuffle(found)
        return found

    def questions(self) -> list[Asked]:
        """`QUESTIONS` of each form."""
        made: list[Asked] = []
        for form in FORMS:
            texts: set[str] = set()
            while len(texts) < QUESTIONS:
                asked = getattr(self, f"_ask_{form}")()
                if asked and asked.text not in texts:
                    texts.add(asked.text)
                    made.append(asked)
        return made

    def _invented(self, count: int, ends: tuple[str, ...]) -> list[str]:
        pick = self._random.choice
        found: dict[str, None] = {}
        while len(found) < count:
            found[pick(_ONSETS) + pick(_VOWELS) + pick(_CODAS) + pick(ends)] = None
        return list(found)

    def _add_family(self, surname: str) -> None:
        """Grandfather, father, mother with her own surname, one or two children; their marriages go by chance."""
        pick, chance = self._random.choice, self._random.random
        start = 1840 + self._random.randrange(80)
        grandfather = self._person(surname, start, woman=False)
        father = self._person(surname, start + 28 + self._random.randrange(8), woman=False, father=grandfather)
        others = [p for p in self.people if p.woman and p.spouse is None and abs(p.born[0] - start - 30) < 15]
        if others and chance() < 0.7:
            mother = self.people.index(pick(others))
        else:
            mother = self._person(pick(self._surnames), start + 30, woman=True)
        self.people[father].spouse, self.people[mother].spouse = mother, father
        for _ in range(self._random.randint(1, 2)):
            born = start + 55 + self._random.randrange(12)
            self._person(surname, born, woman=chance() < 0.6, father=father, mother=mother)

    def _person(
        self, surname: str, year: int, *, woman: bool, father: int | None = None, mother: int | None = None
    ) -> int:
        pick = self._random.choice
        taken = {person.name for person in self.people}
        names = [f"{first} {surname}" for first in self._words["women" if woman else "men"]]
        free = [name for name in names if name not in taken] or [f"{name} II" for name in names]
        born = (year, self._random.randint(1, 12), self._random.randint(1, 28))
        lived = self._random.randint(45, 85)
        died = (year + lived, self._random.randint(1, 12), self._random.randint(1, 28)) if year + lived < 2000 else None
        self.people.append(
            Person(
                id=f"p{len(self.people)}",
                name=pick(free),
                woman=woman,
                born=born,
                place=pick(self._towns),
                country=self._random.randrange(len(self._words["countries"])),
                occupation=self._random.randrange(len(self._words["occupations"])),
                award=pick(self._words["awards"]),
                school=pick(self._words["schools"]).format(town=pick(self._towns)),
                died=died,
                father=father,
                mother=mother,
            )
        )
        return len(self.people) - 1

    def _made_works(self) -> list[Work]:
        pick = self._random.choice
        titles: dict[str, int] = {}
        works: list[Work] = []
        for number in range(WORKS):
            kind = number % KINDS
            form = pick(self._words["company" if kind == COMPANY else "title"])
            title = form.format(
                adjective=pick(self._words["adjectives"]),
                noun=pick(self._words["nouns"]),
                surname=pick(self._surnames),
                town=pick(self._towns),
            )
            maker = pick([n for n, p in enumerate(self.people) if p.occupation == kind])
            year = self.people[maker].born[0] + self._random.randint(24, 45)
            if title in titles:
                title = f"{title} ({year} {self._words['suffix'][kind]})"
                if title in titles:
                    continue
            titles[title] = number
            works.append(Work(f"w{number}", title, kind, year, maker, self._random.randrange(len(self.people))))
        return works

    def _life(self, person: Person) -> str:
        """The paragraph of a person; what is asked of people always stands in it."""
        words, woman = self._words, int(person.woman)
        country = words["countries"][person.country]
        opening = words["dead" if person.died else "alive"][woman].format(
            name=person.name,
            born=self._date(person.born),
            died=self._date(person.died) if person.died else "",
            nation=country[1 + woman],
            occupation=words["occupations"][person.occupation][woman],
            place=person.place,
        )
        rest: list[str] = [words["school"][woman].format(school=person.school)]
        rest.append(words["award"][woman].format(award=person.award))
        if person.father is not None:
            father = self.people[person.father].name
            if person.mother is None:
                rest.append(words["father"][woman].format(father=father))
            else:
                rest.append(words["parents"][woman].format(father=father, mother=self.people[person.mother].name))
        if person.spouse is not None:
            rest.append(words["spouse"][woman].format(spouse=self.people[person.spouse].name))
        rest += self._random.sample(words["filler"], self._random.randint(0, 2))
        self._random.shuffle(rest)
        return " ".join([opening, *rest])

    def _work(self, work: Work) -> str:
        text = self._random.choice(self._words["work"][work.kind]).format(
            title=work.title.split(" (")[0],
            year=work.year,
            maker=self.people[work.maker].name,
            second=self.people[work.second].name,
        )
        return f"{text} {self._random.choice(self._words['more'])}".strip()

    def _date(self, date: tuple[int, int, int]) -> str:
        return str(self._words["date"]).format(day=date[2], month=self._words["months"][date[1] - 1], year=date[0])

    def _fact(self, person: Person, fact: str) -> str | None:
        """What the paragraph of `person` says of `fact`; None where it does not."""
        if fact in ("father", "mother", "spouse"):
            place = getattr(person, fact)
            return None if place is None else self.people[place].name
        if fact in ("born", "died"):
            date = getattr(person, fact)
            return self._date(date) if date else None
        if fact == "country":
            return str(self._words["countries"][person.country][0])
        return str(getattr(person, fact))

    def _ask_compositional(self) -> Asked | None:
        work = self._random.choice(self.works)
        fact, forms = self._random.choice(list(self._words["ask_of_maker"].items()))
        maker = self.people[work.maker]
        answer = self._fact(maker, fact)
        if answer is None:
            return None
        named, of_named = (text.format(title=work.title) for text in self._words["maker"][work.kind])
        text = self._random.choice(forms).format(maker=named, of_maker=of_named)
        return Asked("compositional", text, frozenset({work.id, maker.id}), answer)

    def _ask_inference(self) -> Asked | None:
        person = self._random.choice(self.people)
        chain, forms = self._random.choice(list(self._words["ask_of_kin"].items()))
        link, fact = chain.split()
        place = getattr(person, link)
        answer = None if place is None else self._fact(self.people[place], fact)
        if answer is None:
            return None
        text = self._random.choice(forms).format(name=person.name)
        return Asked("inference", text, frozenset({person.id, self.people[place].id}), answer)

    def _ask_comparison(self) -> Asked | None:
        kind = self._random.choice(("years", "births", "countries"))
        forms = self._words[f"ask_{kind}"]
        if kind == "years":
            one, other = self._two_works()
            if one.year == other.year:
                return None
            text = self._random.choice(forms).format(first=one.title, second=other.title)
            answer = min(one, other, key=lambda work: work.year).title
            return Asked("comparison", text, frozenset({one.id, other.id}), answer)
        first, second = self._random.sample(self.people, 2)
        text = self._random.choice(forms).format(first=first.name, second=second.name)
        older = min(first, second, key=lambda person: person.born).name
        answer = older if kind == "births" else self._same(first, second)
        return Asked("comparison", text, frozenset({first.id, second.id}), answer)

    def _ask_bridge_comparison(self) -> Asked | None:
        one, other = self._two_works()
        first, second = self.people[one.maker], self.people[other.maker]
        if first is second:
            return None
        kind = self._random.choice(("births", "countries"))
        text = self._words[f"ask_maker_{kind}"][one.kind].format(first=one.title, second=other.title)
        older = one.title if first.born < second.born else other.title
        answer = older if kind == "births" else self._same(first, second)
        return Asked("bridge_comparison", text, frozenset({one.id, other.id, first.id, second.id}), answer)

    def _two_works(self) -> tuple[Work, Work]:
        kind = self._random.randrange(KINDS)
        one, other = self._random.sample([work for work in self.works if work.kind == kind], 2)
        return one, other

    @staticmethod
    def _same(first: Person, second: Person) -> str:
        return "yes" if first.country == second.country else "no"
