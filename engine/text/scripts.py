"""Character classes by script, as ranges to be put inside ``[…]`` of a regular expression."""

from __future__ import annotations

GREEK = "Ͱ-Ͽἀ-῿"
CYRILLIC = "Ѐ-ԯᲀ-᲏ⷠ-ⷿꙀ-ꚟ"
ARMENIAN = "\u0531-\u058a"
INDIC = "\u0900-\u0dff"
"""Devanagari to Sinhala, with Bengali, Gurmukhi, Gujarati, Oriya, Tamil, Telugu, Kannada and Malayalam between."""
HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA = "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\ua9e0-\ua9ff\uaa60-\uaa7f"
"""Thai, Lao, Burmese, Khmer and their relatives: words follow each other, a space ends a phrase or a sentence."""
CJK = HAN + KANA
