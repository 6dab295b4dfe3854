"""PPTX: a part for each slide, with its number and notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.files.archives import opened_archive
from api.files.extras import library
from api.files.office import office_properties, office_text, translated_office_errors
from api.files.pieces import Part, Source

_MOST_NESTED = 16
"""Groups of shapes inside one another."""


def read_pptx(source: Source) -> Iterator[Part]:
    """A part a slide; ``slide`` counts from 1, ``heading`` is its title, the speaker's notes follow its text."""
    opened_archive(source)
    pptx = library("pptx")
    with translated_office_errors():
        source.file.seek(0)
        deck = pptx.Presentation(source.file)
        attributes = {"title": source.stem} | office_properties(deck.core_properties)
        parts = [_slide(slide, number, attributes) for number, slide in enumerate(deck.slides, 1)]
    yield from (part for part in parts if part.body)


def _slide(slide: Any, number: int, attributes: dict[str, Any]) -> Part:
    title = slide.shapes.title
    heading = " ".join(str(title.text_frame.text).split()) if title is not None else ""
    texts = [text for shape in slide.shapes if shape != title for text in _texts(shape, 0)]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        texts.append(str(slide.notes_slide.notes_text_frame.text))
    body = "\n".join(text.replace("\v", "\n").strip() for text in texts if text.strip())
    shown: dict[str, Any] = {"slide": number} | ({"heading": heading} if heading else {})
    # A title alone, as on a cover, is all that the slide says.
    return Part(anchor=f"s{number}", body=body or heading, attributes=attributes | shown)


def _texts(shape: Any, depth: int) -> Iterator[str]:
    if hasattr(shape, "shapes"):
        if depth < _MOST_NESTED:
            for inner in shape.shapes:
                yield from _texts(inner, depth + 1)
    elif getattr(shape, "has_table", False):
        yield office_text(shape.table)
    elif shape.has_text_frame:
        yield str(shape.text_frame.text)
