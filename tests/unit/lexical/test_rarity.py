from pathlib import Path

import numpy as np

from engine.lexical.index import LexicalIndex, LexicalPassage


def test_a_rare_word_weighs_more_than_a_common_one_and_an_unknown_one_most(tmp_path: Path) -> None:
    index, _ = LexicalIndex.open(tmp_path)
    bodies = ["a comet passed", "a dog slept", "a dog barked", "a cat slept"]
    index.apply([LexicalPassage(n, "", body) for n, body in enumerate(bodies, 1)], np.empty(0, np.int64), seq=1)
    rarity = index.reader().rarity("The comet, a dog and Zanzibar")
    assert rarity["zanzibar"] > rarity["comet"] > rarity["dog"] > rarity["a"] > 0
    index.close()
