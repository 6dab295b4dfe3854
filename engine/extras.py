"""Libraries that are optional extras, and models of theirs that are loaded at the first use."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

from engine.errors import ModelMisconfigured


def extra_library(module: str, extra: str) -> Any:
    """A module of a library that comes with an extra.

    Raises:
        ModelMisconfigured: the extra is not installed.
    """
    try:
        return cast("Any", importlib.import_module(module))
    except ImportError as error:
        raise ModelMisconfigured(
            f"This model needs the extra {extra!r}: pip install 'quarry-search[{extra}]'."
        ) from error


class ExtraModel:
    """The model that ``module.kind(name)`` makes, used by one thread at a time: tokenizers refuse to be borrowed twice.

    Args:
        extra: whose library it is.
    """

    def __init__(self, extra: str, module: str, kind: str, name: str) -> None:
        self.name = name
        self._extra = extra
        self._module = module
        self._kind = kind
        self._loaded: Any = None
        self._lock = threading.Lock()

    @contextmanager
    def use(self) -> Generator[Any]:
        """The library's model, loaded once; a model that is not in the library's cache is fetched then.

        Raises:
            ModelMisconfigured: the extra is not installed, or the model cannot be loaded.
        """
        with self._lock:
            if self._loaded is None:
                library = extra_library(self._module, self._extra)
                try:
                    self._loaded = getattr(library, self._kind)(self.name)
                except (OSError, ValueError, RuntimeError) as error:
                    raise ModelMisconfigured(f"{self._extra} cannot load the model {self.name!r}.") from error
            yield self._loaded
