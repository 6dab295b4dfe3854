"""Mail: single messages and mailboxes, with sender, recipients, date and thread."""

from __future__ import annotations

import email.policy
import hashlib
import re
from collections.abc import Iterator
from datetime import UTC
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from typing import Any, BinaryIO

from api.files.extras import library
from api.files.html import html_blocks
from api.files.pieces import Part, Refusal, SkippedFile, Source, UnreadableFile

MAX_MESSAGE = 64 * 2**20
"""Bytes of one message with its attachments."""

_REFERENCE = re.compile(r"<([^<>\s]+)>")
_FROM_LINE = re.compile(rb"From \S+.*\d{4}\r?\n?$")


def read_message(source: Source) -> Iterator[Part]:
    """One message; its parts are one."""
    part = _part(source.content(MAX_MESSAGE), source.stem)
    if not part.body:
        raise SkippedFile("a message without text")
    yield Part(anchor="", body=part.body, attributes=part.attributes)


def read_mailbox(source: Source) -> Iterator[Part | Refusal]:
    """A part a message, named after its Message-ID, so that it keeps its id when others come and go.

    Raises:
        UnreadableFile: it does not begin as a mailbox does.
    """
    seen: set[str] = set()
    for number, raw in enumerate(_messages(source.file), 1):
        if raw is None:
            yield Refusal(f"message {number}", f"larger than {MAX_MESSAGE // 2**20} MiB")
            continue
        try:
            part = _part(raw, source.stem)
        except UnreadableFile as error:
            yield Refusal(f"message {number}", str(error))
            continue
        if part.body and part.anchor not in seen:
            seen.add(part.anchor)
            yield part


def _messages(file: BinaryIO) -> Iterator[bytes | None]:
    """The raw messages of a mailbox in mbox form; None for one that is too large to be held."""
    file.seek(0)
    lines: list[bytes] = []
    size = 0
    blank, started = True, False
    for line in file:
        if blank and line.startswith(b"From ") and _FROM_LINE.match(line):
            if started:
                yield b"".join(lines) if size <= MAX_MESSAGE else None
            lines, size, started = [], 0, True
        elif not started and line.strip():
            raise UnreadableFile("damaged: it does not begin as a mailbox")
        else:
            size += len(line)
            if size <= MAX_MESSAGE:
                lines.append(line[1:] if line.startswith(b">From ") else line)
        blank = not line.strip()
    if started:
        yield b"".join(lines) if size <= MAX_MESSAGE else None


def _part(raw: bytes, stem: str) -> Part:
    try:
        message = BytesParser(policy=email.policy.default).parsebytes(raw)
        attributes = {"title": _header(message, "subject") or stem, **_attributes(message)}
        body = _body(message)
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        # The standard library fails in these ways over headers that no program should have written.
        raise UnreadableFile(f"damaged ({type(error).__name__})") from error
    if not body and not attributes.get("from"):
        raise UnreadableFile("damaged: it is no mail message")
    name = attributes.get("message_id") or hashlib.sha256(raw).hexdigest()
    return Part(anchor=hashlib.sha256(name.encode()).hexdigest()[:12], body=body, attributes=attributes)


def _attributes(message: EmailMessage) -> dict[str, Any]:
    references = _REFERENCE.findall(_header(message, "references") + " " + _header(message, "in-reply-to"))
    message_id = next(iter(_REFERENCE.findall(_header(message, "message-id"))), "")
    found: dict[str, Any] = {
        "from": next(iter(_people(message, "from")), ""),
        "to": _people(message, "to") + _people(message, "cc"),
        "date": _date(_header(message, "date")),
        "message_id": message_id,
        # The first message that a thread refers to names it, in the first message itself too.
        "thread": references[0] if references else message_id,
        "attachments": [name for part in message.iter_attachments() if (name := part.get_filename())],
    }
    return {name: value for name, value in found.items() if value}


def _header(message: EmailMessage, name: str) -> str:
    """A header as one line; empty where it is missing or cannot be decoded."""
    try:
        value = " ".join(str(message.get(name, "")).split())
    except (ValueError, IndexError, AttributeError, LookupError):
        return ""
    return value.encode(errors="replace").decode()


def _people(message: EmailMessage, name: str) -> list[str]:
    """Names and addresses as ``Ann Lee <ann@example.org>``."""
    found = getaddresses([_header(message, name)])
    return [f"{person} <{address}>" if person else address for person, address in found if address]


def _date(text: str) -> str:
    try:
        moment = parsedate_to_datetime(text)
        return (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _body(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    try:
        text = payload.decode(part.get_content_charset("utf-8"), errors="replace")
    except LookupError:
        text = payload.decode(errors="replace")
    if part.get_content_subtype() == "html":
        tree = library("selectolax.lexbor").LexborHTMLParser(text)
        text = "\n\n".join(block.text for block in html_blocks(tree) if block.text)
    return text.replace("\r\n", "\n").strip()
