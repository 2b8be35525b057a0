"""A report as PDF and as Word document: what the page says is in them, and a signature tells who signed."""

from __future__ import annotations

import datetime as dt
import io
import shutil
import zipfile

import pytest

from celosia.cli.main import run as command
from celosia.demo import prepare
from celosia.errors import InputError, OutputError
from celosia.release.report.export import export
from celosia.release.report.word import write_word
from celosia.release.run import run
from celosia.show.browser import BROWSERS

PASSWORD = "a password of a test"
needs_browser = pytest.mark.skipif(
    not any(map(shutil.which, BROWSERS)), reason="needs Debian's chromium-headless-shell"
)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return run(prepare(tmp_path_factory.mktemp("export"), persons=1500))


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "The data steward")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(secret.public_key())
    builder = builder.serial_number(7).not_valid_before(now).not_valid_after(now + dt.timedelta(days=2))
    use = x509.KeyUsage(True, True, False, False, False, False, False, False, False)
    certificate = builder.add_extension(use, critical=True).sign(secret, hashes.SHA256())
    path = tmp_path_factory.mktemp("key") / "steward.p12"
    encryption = BestAvailableEncryption(PASSWORD.encode())
    path.write_bytes(pkcs12.serialize_key_and_certificates(b"steward", secret, certificate, None, encryption))
    return path


@needs_browser
def test_a_signed_pdf_names_its_signer_and_notices_a_change(release, key, tmp_path, monkeypatch):
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.sign.validation import validate_pdf_signature
    from pyhanko_certvalidator import ValidationContext

    monkeypatch.setenv("STEWARD", PASSWORD)
    out = tmp_path / "report.pdf"
    page = str(release.paths["report"])
    assert command(["report", page, "--out", str(out), "--sign", str(key), "--password", "env:STEWARD"]) == 0

    def status(content):
        signature = PdfFileReader(io.BytesIO(content)).embedded_signatures[0]
        trusted = ValidationContext(trust_roots=[signature.signer_cert], allow_fetching=False)
        return validate_pdf_signature(signature, trusted), signature.signer_cert.subject.native["common_name"]

    content = out.read_bytes()
    checked, signer = status(content)
    assert signer == "The data steward"
    assert checked.intact
    assert checked.valid
    place = content.index(b"stream\n", 2000) + 20
    changed = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    assert not status(changed)[0].intact


@needs_browser
def test_an_internal_report_stays_for_its_owner(release, tmp_path):
    out = export(release.paths["internal"], tmp_path / "inside.pdf")
    assert out.read_bytes().startswith(b"%PDF")
    assert out.stat().st_mode & 0o777 == 0o600


def test_a_word_document_has_the_headings_tables_and_pictures_of_the_page(release, tmp_path):
    import docx

    path = export(release.paths["report"], tmp_path / "report.docx")
    document = docx.Document(str(path))
    texts = [paragraph.text for paragraph in document.paragraphs]
    page = release.paths["report"].read_text()
    assert texts[2:4] == ["Hospital visits of 2025", "Privacy report"]
    for heading in ("Who could still be found", "What was required", "Risk of re-identification", "Words"):
        assert heading in texts
    assert len(document.tables) == page.count("<table")
    cells = [cell.text for row in document.tables[0].rows for cell in row.cells]
    assert cells[0] == "requirement"
    assert "k-anonymity\nEvery record shares its quasi-identifiers with at least k - 1 others." in cells
    pictures = [name for name in zipfile.ZipFile(path).namelist() if name.startswith("word/media")]
    assert len(pictures) == page.count("<svg")
    assert all(zipfile.ZipFile(path).read(name).startswith(b"\x89PNG") for name in pictures)


def test_only_what_stands_below_begins_a_line_in_word(tmp_path):
    import docx

    cells = (
        '<td>a <span class="unit">b</span> c</td><td>d<span class="below">e</span></td><td class="below">f<br>g</td>'
    )
    write_word(f"<main><h1>x</h1><table><tr>{cells}</tr></table></main>", tmp_path / "x.docx")
    (table,) = docx.Document(str(tmp_path / "x.docx")).tables
    assert [cell.text for cell in table.rows[0].cells] == ["a b c", "d\ne", "f\ng"]


def test_two_tables_are_reported_in_word(tmp_path):
    import docx
    import polars as pl

    import celosia

    table = celosia.read(pl.DataFrame({"age": [31, 32, 47, 48] * 3}), celosia.Schema.of(quasi=["age"]))
    path = celosia.report(table, celosia.protect(table, "round(columns=age, base=10)"), tmp_path / "pair.docx")
    assert "Column by column" in [paragraph.text for paragraph in docx.Document(str(path)).paragraphs]


def test_what_cannot_be_exported_is_refused(release, key, tmp_path):
    with pytest.raises(OutputError, match=r"must be \.pdf or \.docx"):
        export(release.paths["report"], tmp_path / "report.odt")
    with pytest.raises(InputError, match="there is no report"):
        export(tmp_path / "nothing.html", tmp_path / "report.pdf")
    with pytest.raises(OutputError, match="only a PDF can be signed"):
        export(release.paths["report"], tmp_path / "report.docx", key=key)
    (tmp_path / "strange.html").write_text("<main><script>1</script></main>")
    with pytest.raises(InputError, match="is no report that Celosia wrote"):
        export(tmp_path / "strange.html", tmp_path / "report.pdf")
    (tmp_path / "there.docx").touch()
    with pytest.raises(OutputError, match="overwrite"):
        export(release.paths["report"], tmp_path / "there.docx")
    arguments = ["report", str(release.paths["report"]), "--out", str(tmp_path / "x.pdf")]
    assert command([*arguments, "--sign", str(key), "--password", PASSWORD]) == 2, "a password is no word of a command"
