"""How sentences of documents are put: tidied, told by how well they read alone, and labelled with their document."""

from __future__ import annotations

import re
from functools import lru_cache

from engine.agent.answer.gate import unsupported
from engine.agent.evidence.headings import is_ended, is_question
from engine.agent.steps import ReadingPassage
from engine.analysis.language import DEFAULT_LANGUAGE, language
from engine.analysis.scripts import is_unspaced
from engine.analysis.words import folded
from engine.question.turn import Question
from engine.text.headers import split_header

MAX_LABEL = 100
"""Characters of a title or source that is put in front of a sentence; a longer one is left out, never cut."""
MAX_SENTENCE = 400
"""Characters above which a shorter sentence is preferred."""
MIN_SENTENCE = 15
READS_BADLY = 0.94
"""Factor on a question, on code, on what is no whole sentence, and on one that stands for something before it."""
NOTHING = 0.3
"""Factor on what stands in no sentence that answers: links, bylines, invitations to subscribe."""
_KEPT = 4_096
"""Sentences of which is remembered how they read: searches of one collection meet the same ones."""
_FILE = re.compile(r"\S*/\S*|\S+\.[^\W\d]\w{0,4}")
_LINKED = re.compile(r"https?://|www\.|(?<!\w)@\w|\b\w+\.(?:com|org|net|co|io)/|©", re.IGNORECASE)
_BYLINE = re.compile(r"^\W*B[Yy] [A-Z][\w.'’-]+ [A-Z]")
_LEAD = re.compile(r"^(?:(?:re|fwd?|aw|wg|sv|rv|tr):\s*|#+\s+|\d{1,3}[.)]\s+)+", re.IGNORECASE)
"""What stands before a title and is no part of it: of replies, headings and list numbers."""
_ENTRY = re.compile(r"\(?(\d{1,3})[.)]\s+")
_REPLY = re.compile(r"[^\W\d_][:：]\s*")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]+)(?<=\S)\1(?![\w*])")
_PAIRS = (("«", "»"), ("(", ")"), ("[", "]"))
_QUOTES = "“”„"
"""Marks of which two make a pair, whichever a language opens with and closes with."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKS = re.compile(r"[{}\[\]()<>=\\$_;:#@*+&^~/\"']")
CODE = 0.15
"""Share of marks among the characters of a text from which it is code, not prose."""
_CODE = re.compile(r"[_.()=*`<>/\\]\w|\w[_(=*`<>/\\]")


@lru_cache(maxsize=_KEPT)
def readability(text: str, code: str = DEFAULT_LANGUAGE) -> float:
    """Factor in (0, 1]: how well a sentence reads where it stands alone."""
    text = " ".join(text.split())
    if language(code).pattern("boilerplate").search(text) or _LINKED.search(text) or _BYLINE.match(text):
        return NOTHING
    reads_badly = not is_ended(text) or is_question(text) or leans(text, code) or is_code(text)
    return READS_BADLY if reads_badly else 1.0


@lru_cache(maxsize=_KEPT)
def leans(text: str, code: str) -> bool:
    """Whether a sentence opens with a word that stands for something before it.

    >>> leans("She opened it.", "en"), leans("Er öffnete sie.", "de"), leans("Ada opened it.", "en")
    (True, True, False)
    """
    match = language(code).pattern("leaning").search(text[:40])
    return match is not None and not any(map(str.isalnum, text[: match.start()]))


@lru_cache(maxsize=_KEPT)
def tidy(text: str) -> str:
    r"""Text as a sentence: white space folded, a capital first, a full stop last, no mark of a pair alone.

    Of Markdown, links and emphasis leave their text.

    >>> tidy("it rose by\n *3 %* in [May](may.md)")
    'It rose by 3 % in May.'
    """
    text = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", " ".join(text.split())))
    for opening, closing in _PAIRS:
        if text.count(opening) != text.count(closing):
            text = text.replace(opening, "").replace(closing, "")
    for marks in (_QUOTES, '"'):
        if sum(map(text.count, marks)) % 2:
            text = text.translate(dict.fromkeys(map(ord, marks)))
    text = text.strip(" -–—•*·|:;,")
    if text[:1] == "(" and text[-1:] == ")" and text.count("(") == 1:
        text = text[1:-1].strip()
    if text and not is_ended(text) and not is_unspaced(text[-1]):
        text += "."
    return text[:1].upper() + text[1:] if not _is_spelled_small(text) else text


def without_mark(text: str, start: int, end: int) -> str:
    r"""A sentence of `text` without what opens it as an entry of a list, or as the reply to a question.

    A number opens an entry where the list has the one before it or the one after it: "3. Oktober" keeps its own.

    >>> without_mark("1. It is old.\n2. It leaks.", 14, 26), without_mark("3. Oktober", 0, 10)
    ('It leaks.', '3. Oktober')
    >>> without_mark("Q: Does it leak?\nA: At sea.", 17, 27)
    'At sea.'
    """
    sentence = text[start:end]
    if (entry := _ENTRY.match(sentence)) is not None:
        number = int(entry.group(1))
        near = re.search(rf"^\W*(?:{number - 1}|{number + 1})[.)]\s", text, re.MULTILINE)
        return sentence if near is None else sentence[entry.end() :]
    reply = _REPLY.match(sentence)
    return sentence[reply.end() :] if reply is not None and is_question(text[:start]) else sentence


def is_code(text: str) -> bool:
    """Whether a text is code, and no prose that names some in backticks.

    >>> is_code("for (i = 0; i < n; i++) { sum += a[i]; }"), is_code("The [sum](sum.md) is what `sum(a)` returns.")
    (True, False)
    """
    prose = _LINK.sub(r"\1", text)
    return len(_MARKS.findall(prose)) > CODE * max(len(prose) - prose.count(" "), 1)


def _is_spelled_small(text: str) -> bool:
    """Whether the first word is a name with a capital inside, such as ``iPhone``, or code, such as ``dump(value)``."""
    first = text.split(" ", 1)[0]
    return is_code(text) or any(c.isupper() for c in first[1:]) or _CODE.search(first) is not None


def label_of(passage: ReadingPassage, question: Question, asked: str) -> str:
    """What to call a document: the value that the question names, such as its source, else its title; may be empty."""
    for name in question.filterable:
        value = passage.attributes.get(name)
        if isinstance(value, str) and len(value) > 2 and (named := _named(value, asked)):
            return named if len(named) <= MAX_LABEL else ""
    return title_of(passage)


def title_of(passage: ReadingPassage) -> str:
    """The document's title, without what is no part of it; empty when there is none, or it is too long."""
    title = untitled(written_title(passage))
    return title if len(title) <= MAX_LABEL else ""


def written_title(passage: ReadingPassage) -> str:
    """The title as the document has it: the first part of the header, but for the name of a file, which says little."""
    first = next(iter(split_header(passage.passage.header)), "")
    return "" if _FILE.fullmatch(first) else first


def untitled(text: str) -> str:
    """A title or a heading without what stands before it and is no part of it.

    >>> untitled("Re: Re: The lift"), untitled("## 3.0.7 (2026-03-18)")
    ('The lift', '3.0.7 (2026-03-18)')
    """
    return _LEAD.sub("", " ".join(text.split())).rstrip(" :#")


def _named(value: str, asked: str) -> str:
    """The longest part of `value` that `asked` names: the whole, or what stands before a separator.

    A value without a capital is a word like any other: "class", "function" and "create" name nothing.
    """
    for part in (value, re.split(r"\s+[|/·–—-]\s+", value, maxsplit=1)[0]):
        if any(c.isupper() for c in part) and re.search(rf"(?<!\w){re.escape(folded(part))}(?!\w)", folded(asked)):
            return part
    return ""


def labelled(label: str, sentence: str, excerpts: str, aside: str = "") -> str:
    """``label: sentence``, where the label adds something and says no number or quotation that the excerpts do not.

    Args:
        aside: put between them, or in front, such as "likewise".
    """
    fits = (
        label
        and folded(label) not in folded(sentence)
        and not any(mark in label for mark in '“”"«»„[]')
        # What the gate refuses would take the sentence with it.
        and not unsupported(label, [excerpts])
    )
    if not fits:
        return f"{aside[:1].upper()}{aside[1:]}: {sentence}" if aside else sentence
    joint = " —" if label[-1] in ".?!…:" else ":"
    return f"{label}, {aside}: {sentence}" if aside else f"{label}{joint} {sentence}"
