"""Export of a report to Word or to PDF, which an installed browser prints and a key may sign.

The browser renders the style sheet, the pictures and the fonts. A page with a script was not written by Celosia and is
refused, so that nothing is executed.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import files
from celosia.data.credentials import resolve_reference
from celosia.data.io.atomic import refuse_existing, replace_file
from celosia.errors import InputError, MissingExtra, OutputError
from celosia.show.browser import print_page

if TYPE_CHECKING:
    from typing import BinaryIO

    from pyhanko.sign.signers import Signer

FORMS = frozenset({".pdf", ".docx"})
"""Endings of the files that a report can be exported to."""
LARGEST_KEY = 1 << 20
"""Largest number of bytes of a key file with its certificates."""


def export(
    page: str | Path,
    out: str | Path,
    *,
    key: str | Path | None = None,
    password: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Convert a report page (HTML) to PDF or Word, by the ending of ``out``.

    ``key`` is a PKCS #12 file with the key that signs the PDF, and ``password`` opens it (``env:NAME`` and
    ``file:PATH`` refer to it). The new file has the mode of the page: an internal edition stays private.
    """
    source, target = Path(page), Path(out)
    kind = target.suffix.lower()
    if kind not in FORMS:
        raise OutputError(f"the ending of {target.name!r} must be .pdf or .docx.")
    if key is not None and kind != ".pdf":
        raise OutputError("only a PDF can be signed: choose an ending .pdf, or leave the key out.")
    text = _read_page(source)
    if "<script" in text.lower() or "<main>" not in text:
        raise InputError(f"{source.name!r} is no report that Celosia wrote.")
    if not overwrite:
        refuse_existing([target])
    signer = None if key is None else _load_signer(Path(key), password)
    with replace_file(target, source.stat().st_mode & 0o777) as draft:
        if kind == ".docx":
            from celosia.release.report.word import write_word

            write_word(text, draft)
        else:
            print_page(source, draft)
            if signer is not None:
                _sign(draft, signer)
    return target


def export_text(text: str, out: Path, *, overwrite: bool = False) -> Path:
    """Write the text of a report as PDF or Word document; the page itself is not kept."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(text, encoding="utf-8")
        return export(page, out, overwrite=overwrite)


def _read_page(source: Path) -> str:
    try:
        return files.text(source)
    except FileNotFoundError:
        raise InputError(f"there is no report {str(source)!r}: celosia run writes one.") from None
    except OSError as error:
        raise InputError(f"cannot read the report {str(source)!r}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{source.name!r} is no report that Celosia wrote.") from None


def _load_signer(key: Path, password: str | None) -> Signer:
    """Load the signing key; errors are raised before anything is printed."""
    try:
        from pyhanko.sign import signers
    except ImportError:
        raise MissingExtra.of("signing a report", "sign") from None
    secret = None if password is None else resolve_reference(password).encode()
    load: Any = signers.SimpleSigner.load_pkcs12_data  # the variant with a path logs it on failure
    try:
        with files.regular_file(key).open("rb") as file:
            signer: Signer = load(file.read(LARGEST_KEY), [], passphrase=secret)
            return signer
    except OSError as error:
        raise InputError(f"cannot read the key {str(key)!r}: {error.strerror}.") from None
    except (ValueError, TypeError):
        raise InputError(f"{str(key)!r} is no key (PKCS #12) that this password opens.") from None


def _sign(pdf: Path, signer: Signer) -> None:
    """Sign a PDF in place, so that readers see the author and that it is unchanged."""
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
    from pyhanko.sign import signers

    with tempfile.TemporaryFile() as signed:
        stated = signers.PdfSignatureMetadata(field_name="Signature")
        with pdf.open("rb") as unsigned:
            signers.sign_pdf(IncrementalPdfFileWriter(unsigned), stated, signer=signer, output=signed)
        _copy(signed, pdf)


def _copy(source: BinaryIO, target: Path) -> None:
    source.seek(0)
    with target.open("wb") as file:
        shutil.copyfileobj(source, file)
