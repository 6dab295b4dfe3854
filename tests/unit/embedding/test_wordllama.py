"""The default embedder, on the model itself."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import wordllama
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding import wordllama as wordllama_module
from engine.embedding.pooling import whitening
from engine.embedding.wordllama import WordLlamaEmbedder, WordLlamaMean, load_library
from engine.errors import StorageError

BOTH = [WordLlamaEmbedder(), WordLlamaMean()]

_PROSE = [
    "Vitamin D reduces the risk of fractures.",
    "The committee met on 3 March 2021,\nand again a week later.\n\n- item one\n- item two",
    "naïve café — “quoted” text… 100 % of it",
    "def f(x):\n    return x  # a  comment\twith tabs",
    "机器学习是人工智能的一个分支。",
    "Emoji 🙂🙂 and 👩‍👩‍👧 families",
    "a",
    "Überraschung! ¿Qué pasa? Привет, мир. مرحبا بالعالم",
    "long " * 3000,
]


@given(st.lists(st.one_of(st.sampled_from(_PROSE), st.text(min_size=1, max_size=60)), min_size=1, max_size=8))
def test_the_mean_equals_the_library(texts: list[str]) -> None:
    library = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    expected = library.embed(texts, norm=True)
    np.testing.assert_allclose(WordLlamaMean().embed_passages(texts), expected, atol=2e-6)


@pytest.mark.parametrize("embedder", BOTH, ids=lambda e: e.name)
@pytest.mark.parametrize("text", ["", " ", "\n\n\t ", "\0", "\u200b", "🙂", "\ud800", "<s>", "x" * 100_000])
def test_every_text_gets_a_finite_unit_row(embedder: WordLlamaMean, text: str) -> None:
    rows = embedder.embed_passages([text, "something else"])
    assert rows.shape == (2, 256)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize("embedder", BOTH, ids=lambda e: e.name)
def test_a_row_does_not_depend_on_the_other_texts_of_the_batch(embedder: WordLlamaMean) -> None:
    together = embedder.embed_passages(_PROSE)
    alone = np.concatenate([embedder.embed_queries([text]) for text in _PROSE])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert together.dtype == np.float32
    assert together.flags.c_contiguous


@pytest.mark.parametrize("embedder", BOTH, ids=lambda e: e.name)
def test_no_texts_give_no_rows(embedder: WordLlamaMean) -> None:
    assert embedder.embed_passages([]).shape == (0, 256)


def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    query, near, far = WordLlamaEmbedder().embed_passages(
        ["Which drug lowers blood pressure?", "The medicine reduced hypertension.", "The train left the station late."]
    )
    assert query @ near > query @ far + 0.1


def test_capitals_do_not_hide_what_a_text_says() -> None:
    lower, upper, other = WordLlamaEmbedder().embed_passages(
        ["the federal reserve raised interest rates", "THE FEDERAL RESERVE RAISED INTEREST RATES", "a recipe for soup"]
    )
    assert lower @ upper > 0.4 > lower @ other + 0.2


def test_the_variants_have_names_of_their_own() -> None:
    assert WordLlamaEmbedder().name != WordLlamaMean().name


def test_threads_get_the_same_rows() -> None:
    embedder = WordLlamaEmbedder()
    expected = embedder.embed_passages(_PROSE)
    results: list[np.ndarray] = []

    def embed() -> None:
        results.extend(embedder.embed_passages(_PROSE) for _ in range(5))

    threads = [threading.Thread(target=embed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20
    for rows in results:
        np.testing.assert_array_equal(rows, expected)


_FRESH = """
import logging, socket
def refuse(*args, **kwargs):
    raise AssertionError("network")
socket.socket.connect = refuse
root = logging.getLogger()
{setup}
before = (list(root.handlers), root.level)
import engine.embedding.registry as registry
import sys
assert "tokenizers" not in sys.modules, "loaded before its first use"
registry.load_embedder().embed_queries(["x"])
assert "wordllama" not in sys.modules, "its import configures logging"
assert (list(root.handlers), root.level) == before, root.handlers
"""


@pytest.mark.parametrize("setup", ["pass", "root.addHandler(logging.StreamHandler()); root.setLevel(35)"])
def test_loading_is_lazy_needs_no_network_and_leaves_logging_alone(setup: str) -> None:
    code = _FRESH.format(setup=setup)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_wheel_without_its_weights_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wordllama").mkdir()
    (tmp_path / "wordllama" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    importlib.invalidate_caches()
    with pytest.raises(StorageError, match="lacks its weights"):
        load_library()


def test_a_missing_wheel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    importlib.invalidate_caches()
    with pytest.raises(StorageError, match="not installed"):
        load_library()


def test_the_shipped_whitening_is_that_of_the_weights() -> None:
    made = whitening(load_library().table)
    shipped = np.load(Path(wordllama_module.__file__).with_name("whitening.npy"))
    np.testing.assert_allclose(shipped, made, atol=1e-4 * float(np.abs(made).max()))
