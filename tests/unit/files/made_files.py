"""Real files of many kinds, made by the libraries that write them or byte by byte."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage

import docx
import openpyxl
import pptx
import pypdf


def pdf(*pages: str, title: str = "") -> bytes:
    """A PDF with a line of text a page; an empty text makes an empty page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids: list[str] = []
    for text in pages:
        shown = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1") if text else b""
        number = len(objects) + 1
        kids.append(f"{number} 0 R")
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 "
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >> >>"
            % (number + 1),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown),
        ]
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    if not title:
        return out.getvalue()
    return _rewritten(out.getvalue(), title=title)


def encrypted_pdf(text: str, *, user_password: str) -> bytes:
    return _rewritten(pdf(text), password=user_password)


def _rewritten(raw: bytes, *, title: str = "", password: str | None = None) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(raw))
    if title:
        writer.add_metadata({"/Title": title, "/Author": "Ann Lee", "/CreationDate": "D:20240501120000Z"})
    if password is not None:
        writer.encrypt(password, "owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def word(*blocks: tuple[int, str], table: list[list[str]] | None = None) -> bytes:
    """A DOCX of (heading level or 0, text)."""
    document = docx.Document()
    document.core_properties.author = "Ann Lee"
    for level, text in blocks:
        document.add_heading(text, level) if level else document.add_paragraph(text)
    if table:
        made = document.add_table(rows=len(table), cols=len(table[0]))
        for row, texts in zip(made.rows, table, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def slides(*texts: tuple[str, str, str]) -> bytes:
    """A PPTX of (title, text, notes)."""
    deck = pptx.Presentation()
    for title, text, notes in texts:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def sheet(rows: list[list[object]], title: str = "Stock") -> bytes:
    book = openpyxl.Workbook()
    page = book.active
    page.title = title
    for row in rows:
        page.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def book(*chapters: str, title: str = "The Isle", extra: dict[str, bytes] | None = None) -> bytes:
    """An EPUB of XHTML bodies."""
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    refs = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    members = {
        "META-INF/container.xml": '<container><rootfile full-path="OEBPS/book.opf"/></container>',
        "OEBPS/book.opf": (
            '<?xml version="1.0"?><package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<dc:title>{title}</dc:title><dc:creator>Ann Lee</dc:creator></metadata>"
            f"<manifest>{items}</manifest><spine>{refs}</spine></package>"
        ),
        **{
            f"OEBPS/c{n}.xhtml": f"<html><head><title>x</title></head><body>{body}</body></html>"
            for n, body in enumerate(chapters)
        },
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, text in members.items():
            archive.writestr(name, text)
        for name, raw in (extra or {}).items():
            archive.writestr(name, raw)
    return out.getvalue()


def message(subject: str, text: str, *, message_id: str, reply_to: str = "", html: bool = False) -> bytes:
    mail = EmailMessage()
    mail["Subject"] = subject
    mail["From"] = "Ann Lee <ann@example.org>"
    mail["To"] = "Bo <bo@example.org>"
    mail["Cc"] = "crew@example.org"
    mail["Date"] = "Wed, 01 May 2024 12:00:00 +0200"
    mail["Message-ID"] = f"<{message_id}>"
    if reply_to:
        mail["In-Reply-To"] = f"<{reply_to}>"
        mail["References"] = f"<{reply_to}>"
    mail.set_content(text, subtype="html" if html else "plain")
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="plan.pdf")
    return mail.as_bytes()


def mailbox(*messages: bytes) -> bytes:
    return b"".join(b"From ann@example.org Wed May  1 12:00:00 2024\n" + raw + b"\n" for raw in messages)
