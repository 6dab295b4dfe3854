"""Places in a write where a process can be made to end at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.backend.embedded import writer
from engine.lexical import index as lexical_index
from engine.lexical.forward import ForwardIndex
from engine.lexical.index import LexicalIndex
from engine.storage.manifest import Manifest
from engine.vector.index import VectorIndex

POINTS = ("commit", "recording", "lexical", "forward", "vectors", "manifest", "terms", "save", "swap")
_AFTER = 3
"""The crash comes at the third time that the place is reached, so that there is something to lose."""


def arm(point: str) -> None:
    """End this process, without any clean-up, when `point` has been passed for the third time."""
    if point == "commit":
        _end_before(writer, "_apply")
    elif point == "recording":
        _end_before(lexical_index, "write_applied")
    elif point == "lexical":
        _end_after(LexicalIndex, "apply")
    elif point == "forward":
        _end_after(ForwardIndex, "add")
    elif point == "terms":
        _end_in_replace("forward", "held.json")
    elif point == "vectors":
        _end_after(VectorIndex, "add")
    elif point == "manifest":
        _end_after(Manifest, "record")
    elif point == "save":
        _end_in_replace("vectors", ".json")
    elif point == "swap":
        rename = Path.rename

        def end(self: Path, target: Any) -> Path:
            moved = rename(self, target)
            if str(target).endswith(".replaced"):
                os._exit(9)
            return moved

        Path.rename = end  # type: ignore[method-assign]


def _counted() -> Callable[[], None]:
    left = [_AFTER]

    def passed() -> None:
        left[0] -= 1
        if left[0] == 0:
            os._exit(9)

    return passed


def _end_before(owner: Any, name: str) -> None:
    original, passed = getattr(owner, name), _counted()

    def run(*args: Any, **kwargs: Any) -> Any:
        passed()
        return original(*args, **kwargs)

    setattr(owner, name, run)


def _end_after(owner: Any, name: str) -> None:
    original, passed = getattr(owner, name), _counted()

    def run(*args: Any, **kwargs: Any) -> Any:
        out = original(*args, **kwargs)
        passed()
        return out

    setattr(owner, name, run)


def _end_in_replace(folder: str, suffix: str) -> None:
    replace = os.replace

    def end(source: Any, target: Any, **kwargs: Any) -> None:
        if folder in str(target) and str(target).endswith(suffix):
            os._exit(9)
        replace(source, target, **kwargs)

    os.replace = end  # type: ignore[assignment]
