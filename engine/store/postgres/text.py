"""Values as PostgreSQL reads them; above all strings, for its text has no U+0000.

Order by code point is kept: U+0000 becomes U+0001 U+0001, and U+0001 becomes U+0001 U+0002.
"""

from __future__ import annotations

import re
from typing import cast

from engine.model.hits import Labels
from engine.model.schema import AttributeType, TypedValue

_ESCAPE, _NUL, _ITSELF = "\x01", "\x01\x01", "\x01\x02"
_PAIR = re.compile("\x01[\x01\x02]")


def escaped(text: str) -> str:
    r"""`text` without U+0000.

    >>> escaped("a\0b\1c") == "a\1\1b\1\2c"
    True
    """
    if _ESCAPE in text:
        text = text.replace(_ESCAPE, _ITSELF)
    return text.replace("\x00", _NUL) if "\x00" in text else text


def unescaped(text: str) -> str:
    r"""What `escaped` was given.

    >>> unescaped(escaped("a\0b\1c")) == "a\0b\1c"
    True
    """
    return _PAIR.sub(lambda pair: "\x00" if pair.group() == _NUL else _ESCAPE, text) if _ESCAPE in text else text


def escaped_value(value: TypedValue) -> TypedValue:
    """A value of an attribute with its strings escaped."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, list):
        return cast("TypedValue", [escaped(each) if isinstance(each, str) else each for each in value])
    return value


def unescaped_scalar(kind: AttributeType, value: str) -> str | int | float | bool:
    """One element of type `kind` from the text that ``->>`` gives."""
    match kind.element:
        case AttributeType.INT | AttributeType.UINT | AttributeType.DATETIME:
            return int(value)
        case AttributeType.FLOAT:
            return float(value)
        case AttributeType.BOOL:
            return value == "true"
        case _:
            return unescaped(value)


def array_of(labels: Labels) -> str:
    """Labels as text that PostgreSQL reads as ``int8[]``: a list of numbers takes the driver several times as long."""
    return "{" + ",".join(map(str, labels.tolist())) + "}"
