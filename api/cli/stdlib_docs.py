"""The documentation of this Python's standard library as documents: a small real corpus that every machine has."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

SCHEMA: dict[str, dict[str, Any]] = {
    "title": {"type": "string", "is_searchable": True},
    "signature": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "module": {"type": "string", "is_filterable": True},
    "kind": {"type": "string", "is_filterable": True},
    "name": {"type": "string", "is_filterable": True},
}

# Importing these opens a window, a browser, or prints; or they are tests and private plumbing.
_LEFT_OUT = {"antigravity", "this", "idlelib", "turtle", "turtledemo", "tkinter", "test", "lib2to3", "__main__"}
_MAX_ID = 64


def module_names() -> list[str]:
    """Public top-level modules of the standard library and their documented submodules, by name."""
    names = sorted(n for n in sys.stdlib_module_names if not n.startswith("_") and n not in _LEFT_OUT)
    inner = ("asyncio.queues", "collections.abc", "concurrent.futures", "email.message", "http.client", "http.server")
    more = ("importlib.metadata", "importlib.resources", "logging.handlers", "os.path", "unittest.mock", "urllib.parse")
    return [*names, *inner, *more, "urllib.request", "xml.etree.ElementTree", "xml.dom.minidom"]


def documents(name: str) -> Iterator[dict[str, Any]]:
    """One document for the module, and one for each documented function, class and method that it defines."""
    module = _imported(name)
    if module is None:
        return
    summary = inspect.getdoc(module)
    if not summary:
        return
    yield {
        "id": name,
        "root_document_id": name,
        "title": f"{name} module",
        "module": name,
        "kind": "module",
        "name": name,
        "body": summary,
    }
    for label, value in _public(module):
        if inspect.isclass(value):
            yield from _of_class(name, label, value)
        elif inspect.isroutine(value):
            yield from _entry(name, "function", label, value)


def _of_class(module: str, label: str, cls: type) -> Iterator[dict[str, Any]]:
    yield from _entry(module, "class", label, cls)
    for method, value in vars(cls).items():
        if not method.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)):
            yield from _entry(module, "method", f"{label}.{method}", value)


def _entry(module: str, kind: str, label: str, value: Any) -> Iterator[dict[str, Any]]:
    body = inspect.getdoc(value)
    identifier = f"{module}.{label}"
    if not body or len(identifier) > _MAX_ID:
        return
    document = {
        "id": identifier,
        "root_document_id": module,
        "title": f"{identifier} {kind}",
        "module": module,
        "kind": kind,
        "name": label,
        "body": body,
    }
    # A default may name what only exists once a terminal is open: whatever it is, the signature is left out.
    with contextlib.suppress(ValueError, TypeError, AttributeError, NameError):
        document["signature"] = f"{label}{inspect.signature(value)}"
    yield document


def _public(module: ModuleType) -> list[tuple[str, Any]]:
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    found = [(n, getattr(module, n, None)) for n in dict.fromkeys(names)]
    return [(n, v) for n, v in found if _is_at_home(getattr(v, "__module__", None) or module.__name__, module.__name__)]


def _is_at_home(owner: str, name: str) -> bool:
    """Whether `name` documents what `owner` defines: itself, its parts, and modules too private to be asked for."""
    return owner == name or owner.startswith((f"{name}.", "_"))


def _imported(name: str) -> ModuleType | None:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except (ImportError, AttributeError, OSError):
            return None  # modules of other platforms
