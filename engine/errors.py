"""Every exception the engine raises on purpose.

QuarryError                       ``code``, ``message``, ``path``, ``details``
├── RequestError                  the caller can fix the request
│   ├── InvalidRequest            invalid_request
│   ├── InvalidDocument           invalid_document
│   ├── SchemaError
│   │   ├── InvalidSchema         invalid_schema
│   │   └── SchemaConflict        schema_conflict
│   ├── FilterError
│   │   ├── InvalidFilter         invalid_filter
│   │   ├── UnknownAttribute      unknown_attribute
│   │   ├── AttributeNotFilterable attribute_not_filterable
│   │   └── FilterTypeMismatch    filter_type_mismatch
│   ├── NotFound
│   │   ├── NamespaceNotFound     namespace_not_found
│   │   ├── DocumentNotFound      document_not_found
│   │   ├── SessionNotFound       session_not_found
│   │   ├── SessionExpired        session_expired
│   │   └── ApiKeyNotFound        api_key_not_found
│   └── SessionConflict
│       ├── SessionBusy           session_busy
│       └── SessionFailed         session_failed
├── StateError                    the engine is in the wrong state for the call
│   ├── EngineClosed              engine_closed
│   ├── DataDirectoryLocked       data_directory_locked
│   ├── DataDirectoryNotFound     data_directory_not_found
│   ├── ReindexRequired           reindex_required
│   └── ConcurrentChange          concurrent_change
├── StorageError                  disk or database; the operator acts (storage_error)
│   ├── CorruptData               corrupt_data
│   ├── StorageFull               storage_full
│   └── UnsupportedFormat         unsupported_format
├── ModelError                    the language model
│   ├── ModelUnavailable          model_unavailable
│   ├── ModelRefused              model_refused
│   ├── ModelTruncated            model_truncated
│   ├── ModelOutputInvalid        model_output_invalid
│   └── ModelMisconfigured        model_misconfigured
├── SearchTimeout                 search_timeout
└── Overloaded                    overloaded
"""

from __future__ import annotations

from typing import ClassVar

import msgspec


class ErrorDetail(msgspec.Struct, frozen=True):
    """One fault of a request: where it stands and what is wrong with it."""

    path: str
    message: str


class QuarryError(Exception):
    """Base of every deliberate error. ``code`` is stable; the message is not.

    Attributes:
        message: one readable sentence; never holds document text, SQL, a path of the machine or a key.
        path: JSON path of the fault in the request, such as ``documents[17].id``; empty when there is none.
        details: one entry a fault; holds at least `path` when there is one.
    """

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, *, path: str = "", details: tuple[ErrorDetail, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.details = details or ((ErrorDetail(path, message),) if path else ())


class RequestError(QuarryError):
    """The caller can fix the request."""

    code = "invalid_request"


class InvalidRequest(RequestError):
    """A parameter is missing, of the wrong type, or out of its range."""


class InvalidDocument(RequestError):
    """A document breaks a rule of ids, names, sizes or its schema."""

    code = "invalid_document"


class SchemaError(RequestError):
    """A schema cannot be used."""

    code = "invalid_schema"


class InvalidSchema(SchemaError):
    """An attribute definition is malformed."""


class SchemaConflict(SchemaError):
    """An attribute already has another type."""

    code = "schema_conflict"


class FilterError(RequestError):
    """A filter cannot be used; `path` names the node."""

    code = "invalid_filter"


class InvalidFilter(FilterError):
    """A filter is malformed, or beyond a limit."""


class UnknownAttribute(FilterError):
    """A filter names an attribute that the namespace does not have."""

    code = "unknown_attribute"


class AttributeNotFilterable(FilterError):
    """A filter names an attribute that is not marked ``is_filterable``."""

    code = "attribute_not_filterable"


class FilterTypeMismatch(FilterError):
    """An operand does not fit the declared type of its attribute."""

    code = "filter_type_mismatch"


class NotFound(RequestError):
    """What the request names does not exist, or belongs to another company."""

    code = "not_found"


class NamespaceNotFound(NotFound):
    """No namespace of that name."""

    code = "namespace_not_found"

    def __init__(self, name: str | None = None) -> None:
        super().__init__("No such namespace." if name is None else f"No namespace named {name!r}.")


class DocumentNotFound(NotFound):
    """No document of that id in the namespace."""

    code = "document_not_found"

    def __init__(self, document_id: str | None = None) -> None:
        super().__init__("There are no documents." if document_id is None else f"No document with id {document_id!r}.")


class SessionNotFound(NotFound):
    """No search session of that id in the namespace."""

    code = "session_not_found"

    def __init__(self) -> None:
        super().__init__("No search session with that id in this namespace.")


class SessionExpired(NotFound):
    """The session was not used for longer than sessions are kept."""

    code = "session_expired"

    def __init__(self) -> None:
        super().__init__("This search session has expired. Start a new search.")


class ApiKeyNotFound(NotFound):
    """No key of that id in the company."""

    code = "api_key_not_found"

    def __init__(self) -> None:
        super().__init__("No API key with that id.")


class SessionConflict(RequestError):
    """The session cannot be continued now."""

    code = "session_busy"


class SessionBusy(SessionConflict):
    """Another continuation of the session is running."""

    def __init__(self) -> None:
        super().__init__("Another request is continuing this search session.")


class SessionFailed(SessionConflict):
    """The session ended in failure and cannot be continued."""

    code = "session_failed"

    def __init__(self) -> None:
        super().__init__("This search session failed and cannot be continued. Start a new search.")


class StateError(QuarryError):
    """The engine is in the wrong state for the call."""

    code = "engine_state"


class EngineClosed(StateError):
    """The engine was used after `close`."""

    code = "engine_closed"

    def __init__(self) -> None:
        super().__init__("The engine is closed.")


class DataDirectoryNotFound(StateError):
    """A data directory was to be opened, not made, and there is none."""

    code = "data_directory_not_found"

    def __init__(self) -> None:
        super().__init__("There is no data directory here.")


class DataDirectoryLocked(StateError):
    """Another process owns the data directory; the message names it."""

    code = "data_directory_locked"


class ReindexRequired(StateError):
    """The namespace was embedded by another embedder; run `reindex`."""

    code = "reindex_required"


class ConcurrentChange(StateError):
    """Another process changed the namespace between reading and writing; nothing was written. It can be repeated."""

    code = "concurrent_change"

    def __init__(self) -> None:
        super().__init__("The namespace is being changed by others; nothing was written. Try again.")


class StorageError(QuarryError):
    """Disk or database; the operator acts."""

    code = "storage_error"


class CorruptData(StorageError):
    """Stored data is damaged or older than what was acknowledged."""

    code = "corrupt_data"


class StorageFull(StorageError):
    """Too little free disk space to write safely; nothing was written."""

    code = "storage_full"


class UnsupportedFormat(StorageError):
    """The data directory was written by a newer version."""

    code = "unsupported_format"


class ModelError(QuarryError):
    """The language model could not do a step.

    Attributes:
        tokens: what the provider counted for the failed call, input and output; 0 when it gave no reply.
    """

    code = "model_error"

    def __init__(self, message: str, *, tokens: int = 0) -> None:
        super().__init__(message)
        self.tokens = tokens


class ModelUnavailable(ModelError):
    """Timeout, connection loss, overload or rate limit, after retries."""

    code = "model_unavailable"


class ModelRefused(ModelError):
    """The model declined to answer."""

    code = "model_refused"


class ModelTruncated(ModelError):
    """The reply ended before it was complete."""

    code = "model_truncated"


class ModelOutputInvalid(ModelError):
    """The reply is not of the form that was asked for."""

    code = "model_output_invalid"


class ModelMisconfigured(ModelError):
    """The key, the account or the model name is wrong; the operator acts."""

    code = "model_misconfigured"


class SearchTimeout(QuarryError):
    """The search passed its hard deadline."""

    code = "search_timeout"


class Overloaded(QuarryError):
    """Too much work at once."""

    code = "overloaded"
