from hypothesis import given
from hypothesis import strategies as st

from engine.lexical.spelling import closest, is_one_slip_away

WORDS = st.text("abc", min_size=1, max_size=6)


def slips(word: str) -> set[str]:
    """Every word one slip away, by making each of them."""
    letters = "abc"
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    left_out = {a + b[1:] for a, b in cuts if b}
    replaced = {a + letter + b[1:] for a, b in cuts if b for letter in letters}
    added = {a + letter + b for a, b in cuts for letter in letters}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    return (left_out | replaced | added | swapped) - {word}


@given(a=WORDS, b=WORDS)
def test_one_slip_away_is_what_one_slip_makes(a: str, b: str) -> None:
    assert is_one_slip_away(a, b) == (b in slips(a))


@given(a=WORDS, b=WORDS)
def test_slips_go_both_ways(a: str, b: str) -> None:
    assert is_one_slip_away(a, b) == is_one_slip_away(b, a)


@given(term=WORDS, known=st.dictionaries(WORDS, st.integers(1, 9)))
def test_the_closest_is_the_most_frequent_of_those_one_slip_away(term: str, known: dict[str, int]) -> None:
    near = {word: count for word, count in known.items() if word in slips(term)}
    found = closest(term, known.items())
    assert (found is None) == (not near)
    if found is not None:
        assert known[found] == max(near.values())
