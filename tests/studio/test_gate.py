"""Who may use the studio, and what a request cannot reach."""

from __future__ import annotations

import io

import pytest

from celosia.demo import prepare
from celosia.errors import CelosiaError
from celosia.studio.project import Project, file_name
from celosia.studio.security import MOST_BYTES

testclient = pytest.importorskip("starlette.testclient")
pytest.importorskip("babel")
pytestmark = pytest.mark.xdist_group("studio-gate")
PORT = 8360
HERE = f"http://127.0.0.1:{PORT}"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate") / "clinic"
    prepare(folder, 120)
    return Project(folder)


@pytest.fixture(scope="module")
def app(project):
    from celosia.studio.app import create

    return create(project, PORT)


@pytest.fixture
def stranger(app):
    return testclient.TestClient(app, base_url=HERE, follow_redirects=False)


@pytest.fixture
def client(stranger, project):
    stranger.get(f"/?token={project.token()}")
    return stranger


def post(client, address, origin=HERE, **given):
    headers = {"origin": origin} if origin else {}
    return client.post(address, headers={**headers, **given.pop("headers", {})}, **given)


def test_without_the_token_nothing_is_shown_and_nothing_done(stranger, project):
    before = project.text
    for address in ("/", "/data", "/show", "/release/file/record", "/?token=", "/?token=wrong"):
        answer = stranger.get(address)
        assert answer.status_code == 403, address
        assert "quasi" not in answer.text
    assert post(stranger, "/show", data={"text": "x"}).status_code == 403
    assert post(stranger, f"/?token={project.token()}").status_code == 403
    assert project.text == before


def test_the_first_link_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(stranger, project):
    answer = stranger.get(f"/?token={project.token()}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/", "the token leaves the address"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert stranger.get("/").status_code == 200


def test_the_token_is_readable_by_its_owner_alone(project):
    project.token()
    assert (project.own / "token").stat().st_mode & 0o077 == 0
    assert project.own.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", f"[::1]:{PORT}", ""])
def test_a_name_that_was_bound_to_this_address_is_refused(client, host):
    assert client.get("/data", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://127.0.0.1:9999", f"https://127.0.0.1:{PORT}"]
)
def test_a_form_of_another_page_is_refused(client, project, origin):
    before = project.text
    answer = post(client, "/data/role", origin, data={"column": "sex", "role": "sensitive", "version": project.version})
    assert answer.status_code == 403
    assert project.text == before


@pytest.mark.parametrize("mode", ["no-cors", "cors"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_can_neither_embed_nor_fetch(client, mode, site):
    assert client.get("/data", headers={"sec-fetch-site": site, "sec-fetch-mode": mode}).status_code == 403
    assert "frame-ancestors 'none'" in client.get("/data").headers["content-security-policy"]


def test_what_is_sent_has_a_limit(client):
    too_long = {"content-length": str(MOST_BYTES + 1)}
    assert post(client, "/show", headers=too_long, content=b"x").status_code == 413
    assert post(client, "/begin/upload", headers={"content-length": str(3 << 30)}, content=b"x").status_code == 413
    endless = post(client, "/show", headers={"transfer-encoding": "chunked"}, content=iter([b"x"]))
    assert endless.status_code == 413


@pytest.mark.parametrize(
    "address",
    [
        "/assets/x/../../project.py",
        "/assets/x/%2e%2e/%2e%2e/project.py",
        "/assets/x/pages/../project.py",
        "/assets/x/..%2f..%2fproject.py",
        "/release/file/..%2f..%2fpolicy.toml",
        "/jobs/..%2f..",
        "/jobs/%2e%2e%2f..",
    ],
)
def test_no_address_leads_out_of_its_folder(client, address):
    answer = client.get(address)
    assert answer.status_code in (404, 422)
    assert "import" not in answer.text


@pytest.mark.parametrize(
    "line",
    [
        '[input]\npath = "../secret.csv"',
        '[input]\npath = "/etc/passwd"\ntype = "csv"',
        '[input]\nurl = "sqlite:////etc/people.db"\nquery = "SELECT 1"',
        '[input]\nurl = "sqlite:///../people.db"\nquery = "SELECT 1"',
        '[input]\nurl = "duckdb+x:///a/../../people.db?mode=ro"\nquery = "SELECT 1"',
        '[input]\nurl = "file:/etc/passwd"\nquery = "SELECT 1"',
        '[input]\npath = "original.csv"\n[output]\npath = "../out.csv"',
        '[input]\npath = "original.csv"\n[schema.hierarchies]\nsex = "/etc/passwd"',
        '[input]\npath = "original.csv"\n[[require]]\nuse = "k-map"\nk = 3\npopulation = "../people.csv"',
        '[input]\npath = "original.csv"\n[history]\nreleases = ["../old.certificate.json"]',
    ],
)
def test_a_policy_names_no_file_outside_the_folder(client, project, line):
    before = project.text
    answer = post(client, "/show", data={"text": line, "version": project.version})
    assert answer.status_code == 422
    assert "outside the project" in answer.text
    assert project.text == before


def test_a_link_out_of_the_folder_is_no_way_out(project, tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (project.folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(CelosiaError, match="outside"):
        project.inside("link.csv")


@pytest.mark.parametrize("name", ["../../x.csv", "..\\..\\x.csv", "/etc/x.csv", "x\0.csv", ".csv/../x.csv"])
def test_an_upload_lies_in_the_folder_whatever_it_is_called(project, name):
    place = project.keep(name, io.BytesIO(b"a,b\n1,2\n"))
    assert place.is_relative_to(project.folder / "inputs")
    assert place.parent.parent == project.folder / "inputs"


@pytest.mark.parametrize("name", ["x.exe", "x", "", "..", "x.csv.exe"])
def test_an_upload_of_no_type_that_is_read_is_refused(project, name):
    with pytest.raises(CelosiaError):
        file_name(name)


def test_an_upload_that_is_not_what_it_says_is_told_and_leaves_nothing(tmp_path):
    from celosia.studio.app import create

    project = Project(tmp_path / "new")
    client = testclient.TestClient(create(project, PORT), base_url=HERE, follow_redirects=False)
    client.get(f"/?token={project.token()}")
    answer = post(client, "/begin/upload", files={"file": ("people.parquet", b"this is no parquet")})
    assert answer.status_code == 422
    assert "That did not work" in answer.text
    assert not project.ready
    assert not list(project.own.glob("upload-*"))


def test_a_value_that_breaks_is_not_in_a_log(project, capfd, monkeypatch):
    from celosia.studio import app as application
    from celosia.studio.studio import Studio

    def broken(self, *_, **__):
        raise RuntimeError("Ana Secreta, 34")

    monkeypatch.setattr(Studio, "show", broken)
    client = testclient.TestClient(application.create(project, PORT), base_url=HERE)
    answer = client.get(f"/?token={project.token()}")
    assert answer.status_code == 500
    assert "RuntimeError" in answer.text
    out, err = capfd.readouterr()
    assert "Secreta" not in answer.text + out + err
