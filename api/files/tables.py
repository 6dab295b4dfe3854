"""CSV and its kin: a document a row, with the separator and the encoding told by the file itself."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from api.files.decoding import text_lines
from api.files.pieces import Record, Refusal, Source, UnreadableFile

SEPARATORS = ",;\t|"
"""Those that are looked for; the first of equally good ones is taken."""

MAX_CELL = 64 * 2**20
"""Characters of one cell. A document has at most 8 MB, so that the row of a longer cell could not be stored."""

_SAMPLE = 2**16
_SAMPLE_ROWS = 50


def read_table(source: Source) -> Iterator[Record | Refusal]:
    """A document a row; an empty cell is no value. A row of another length than the header is refused.

    Raises:
        UnreadableFile: no header, or a column name twice.
    """
    csv.field_size_limit(MAX_CELL)
    text = text_lines(source)
    try:
        yield from _rows(source, text)
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"not {error.encoding} text") from error
    finally:
        text.detach()


def _rows(source: Source, text: io.TextIOWrapper) -> Iterator[Record | Refusal]:
    separator = source.options.separator or _separator(text.read(_SAMPLE), source.name)
    text.seek(0)
    reader = csv.reader(text, delimiter=separator, strict=True)
    columns: list[str] | None = None
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Refusal(str(line), str(error))
            line = reader.line_num + 1
            continue
        if any(cells):
            if columns is None:
                columns = _columns(cells)
            elif len(cells) == len(columns):
                yield Record({name: cell for name, cell in zip(columns, cells, strict=True) if cell}, line, cells=True)
            else:
                yield Refusal(str(line), f"{len(cells)} cells, but {len(columns)} columns")
        line = reader.line_num + 1


def _columns(cells: Sequence[str]) -> list[str]:
    names = [name.strip() or f"column_{number}" for number, name in enumerate(cells, 1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableFile(f"the column {twice[0]!r} stands in the header twice")
    return names


def _separator(sample: str, name: str) -> str:
    """The character that cuts the first rows into most columns, as many in each row."""
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    lines = sample.splitlines(keepends=True)
    if len(sample) >= _SAMPLE:
        lines = lines[:-1]
    return max(SEPARATORS, key=lambda separator: _agreement(lines, separator))


def _agreement(lines: Iterable[str], separator: str) -> tuple[float, int]:
    """Share of the rows that have as many cells as the first, and how many those are; no cut at all is worst."""
    widths: list[int] = []
    try:
        for row in csv.reader(lines, delimiter=separator):
            if row:
                widths.append(len(row))
            if len(widths) == _SAMPLE_ROWS:
                break
    except csv.Error:
        pass
    if not widths or widths[0] == 1:
        return (0.0, 0)
    return (widths.count(widths[0]) / len(widths), widths[0])
