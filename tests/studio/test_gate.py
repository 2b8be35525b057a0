"""Who may use the studio, and what a request cannot reach."""

from __future__ import annotations

import io

import pytest

from celosia.demo import prepare
from celosia.errors import CelosiaError
from celosia.studio.project import Project, file_name

testclient = pytest.importorskip("starlette.testclient")
pytest.importorskip("babel")
from celosia.studio.app import create
from celosia.studio.security import COOKIE, MAX_BYTES

pytestmark = pytest.mark.xdist_group("studio-gate")
PORT = 8360


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate") / "clinic"
    prepare(folder, 120)
    return Project(folder)


@pytest.fixture(scope="module")
def app(project):
    return create(project, PORT)


def browser_of(app, **given):
    return testclient.TestClient(app, base_url=app.address, follow_redirects=False, **given)


@pytest.fixture
def stranger(app):
    return browser_of(app)


@pytest.fixture
def client(stranger, app):
    stranger.get(app.link())
    return stranger


def post(client, address, origin=None, **given):
    origin = str(client.base_url).rstrip("/") if origin is None else origin
    headers = {"origin": origin} if origin else {}
    return client.post(address, headers={**headers, **given.pop("headers", {})}, **given)


def test_without_the_token_nothing_is_shown_and_nothing_done(stranger, project, app):
    before = project.text
    for address in ("/", "/data", "/show", "/release/file/record", "/?token=", "/?token=wrong"):
        answer = stranger.get(address)
        assert answer.status_code == 403, address
        assert "quasi" not in answer.text
    assert post(stranger, "/show", data={"text": "x"}).status_code == 403
    assert post(stranger, app.link()).status_code == 403
    assert project.text == before


def test_the_first_link_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(stranger, app):
    link = app.link()
    token = link.partition("token=")[2]
    answer = stranger.get(link)
    assert answer.status_code == 200
    assert 'content="0; url=/"' in answer.text, "the token is removed from the address"
    assert token not in answer.text
    cookie = answer.headers["set-cookie"]
    assert token not in cookie
    assert "domain" not in cookie.lower(), "a host-only cookie: other names below localhost do not get it"
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert stranger.get("/").status_code == 200
    assert stranger.get(link).status_code == 200, "the browser goes back to the page that it came by"


def test_a_link_works_once(app):
    link = app.link()
    assert browser_of(app).get(link).status_code == 200
    second = browser_of(app)
    answer = second.get(link)
    assert answer.status_code == 403
    assert "prints another" in answer.text
    assert "set-cookie" not in answer.headers
    assert second.get("/data").status_code == 403


def test_a_new_link_replaces_the_last_one_and_keeps_sessions(client, app):
    old, new = app.link(), app.link()
    assert browser_of(app).get(old).status_code == 403
    assert browser_of(app).get(new).status_code == 200
    assert browser_of(app).get(f"{app.address}/?token=").status_code == 403, "a spent token leaves no empty one"
    assert client.get("/data").status_code == 200


def test_a_browser_that_is_inside_spends_the_link_that_it_opens(client, app):
    link = app.link()
    assert client.get(link).status_code == 200
    assert browser_of(app).get(link).status_code == 403


def test_each_browser_has_a_session_of_its_own(app):
    cookies, tokens = set(), []
    for _ in range(2):
        tokens.append(app.link())
        answer = browser_of(app).get(tokens[-1])
        cookies.add(answer.headers["set-cookie"].split("=", 1)[1].split(";")[0])
    assert len(cookies) == 2
    guess = browser_of(app, cookies={COOKIE: tokens[-1].partition("token=")[2]})
    assert guess.get("/data").status_code == 403, "the token is no session"


@pytest.mark.parametrize("foreign", ['x={"a":1}', "a[b]=1", "=; ;;x", 'q="unfinished', "ü=1", "expires=Wed, 1 Jan"])
@pytest.mark.parametrize("first", [True, False])
def test_a_cookie_of_another_program_does_not_end_the_session(app, foreign, first):
    entered = browser_of(app).get(app.link())
    own = entered.headers["set-cookie"].split(";")[0]
    cookie = f"{foreign}; {own}" if first else f"{own}; {foreign}"
    answer = browser_of(app).get("/data", headers={"cookie": cookie.encode()})
    assert answer.status_code == 200


def test_host_and_token_are_new_at_every_start_and_never_in_the_folder(tmp_path):
    folder = tmp_path / "received"
    (folder / ".studio").mkdir(parents=True, mode=0o755)
    (folder / ".studio" / "token").write_text("a")
    gates = [create(Project(folder), PORT) for _ in range(2)]
    tokens = [gate.link().partition("token=")[2] for gate in gates]
    hosts = [gate.address.removeprefix("http://").partition(".")[0] for gate in gates]
    assert len({*tokens, "a"}) == len({*hosts}) + 1 == 3
    assert min(map(len, tokens)) >= 40
    assert min(map(len, hosts)) >= 32
    assert (folder / ".studio").stat().st_mode & 0o077 == 0
    for secret in (*tokens, *hosts):
        assert not [file for file in folder.rglob("*") if file.is_file() and secret in file.read_text()]


@pytest.mark.parametrize(
    "kept", ['{"lang": "ca", "theme": "dark"}', '{"lang": "x; Domain=localhost", "a": 1}', "[]", "{"]
)
def test_language_and_theme_are_kept_for_the_next_start(tmp_path, kept):
    project = Project(tmp_path / "clinic")
    (project.state_folder / "look.json").write_text(kept)
    app = create(project, PORT)
    cookies = browser_of(app).get(app.link()).headers.get_list("set-cookie")
    assert [c.split(";")[0] for c in cookies[:-1]] == (["lang=ca", "theme=dark"] if "ca" in kept.split('"') else [])
    assert cookies[-1].startswith(f"{COOKIE}=")


@pytest.mark.parametrize("name", ["results", "inputs", ".studio", "policy.toml", "publications", "ledger.db"])
def test_a_folder_with_a_link_that_leads_out_is_refused(tmp_path, name):
    folder, outside = tmp_path / "received", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / name).symlink_to(outside)
    with pytest.raises(CelosiaError, match="outside the project's folder"):
        Project(folder)
    assert not list(outside.iterdir())


@pytest.mark.parametrize("name", ["past", "jobs", "lock"])
def test_links_in_the_folder_of_the_studio_are_refused(tmp_path, name):
    own = tmp_path / "received" / ".studio"
    own.mkdir(parents=True)
    (tmp_path / "outside").write_text("keep me")
    (own / name).symlink_to(tmp_path / "outside")
    with pytest.raises(CelosiaError, match="symbolic link"):
        Project(tmp_path / "received")
    assert (tmp_path / "outside").read_text() == "keep me"


def test_results_are_not_written_through_a_link(tmp_path):
    project = Project(prepare(tmp_path / "received", 50).parent)
    (tmp_path / "outside").mkdir()
    (project.folder / "results").symlink_to(tmp_path / "outside")
    with pytest.raises(CelosiaError, match="outside"):
        project.results()


SOURCE = """name = "d"
epsilon = 1.0
{database}
[tables.v]
source = "{source}"
person = "who"
unique = true
[tables.v.columns]
who = {{ type = "integer" }}
"""


@pytest.mark.parametrize(
    ("database", "source"),
    [
        ("", "../outside.csv"),
        ("", "{outside}/outside.csv"),
        ("", "link.csv"),
        ('database = "sqlite:///{outside}/outside.db"', "v"),
        ('database = "file:{outside}/address"', "v"),
    ],
)
def test_a_declaration_for_the_gateway_names_no_source_outside_the_folder(tmp_path, database, source):
    from celosia.studio.pages.query.routes import Desk

    project = Project(tmp_path / "received")
    (tmp_path / "outside.csv").write_text("who\n1\n")
    (project.folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    text = SOURCE.format(database=database.format(outside=tmp_path), source=source.format(outside=tmp_path))
    (project.folder / "gateway.toml").write_text(text)
    with pytest.raises(CelosiaError, match="outside the project's folder"):
        Desk(project).gateway()


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", f"evil.example:{PORT}", "127.0.0.1:1", f"[::1]:{PORT}", ""),
        *(f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"x.localhost:{PORT}"),
    ],
)
def test_a_name_that_was_bound_to_this_address_is_refused(client, host):
    assert client.get("/data", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "", "http://127.0.0.1:9999", f"http://127.0.0.1:{PORT}", "https://{host}:8360"],
)
def test_a_form_of_another_page_is_refused(client, project, app, origin):
    before, origin = project.text, origin.format(host=app.address[7:].partition(":")[0])
    answer = post(client, "/data/role", origin, data={"column": "sex", "role": "sensitive", "version": project.version})
    assert answer.status_code == 403
    assert project.text == before


@pytest.mark.parametrize("mode", ["no-cors", "cors"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_can_neither_embed_nor_fetch(client, mode, site):
    assert client.get("/data", headers={"sec-fetch-site": site, "sec-fetch-mode": mode}).status_code == 403
    assert "frame-ancestors 'none'" in client.get("/data").headers["content-security-policy"]


def test_what_is_sent_has_a_limit(client):
    too_long = {"content-length": str(MAX_BYTES + 1)}
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
    assert "outside the project" in answer.text or ("duckdb+x" in line and "--servers" in answer.text)
    assert project.text == before


def test_a_link_out_of_the_folder_is_no_way_out(project, tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (project.folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(CelosiaError, match="outside"):
        project.resolve("link.csv")


@pytest.mark.parametrize("name", ["../../x.csv", "..\\..\\x.csv", "/etc/x.csv", "x\0.csv", ".csv/../x.csv"])
def test_an_upload_lies_in_the_folder_whatever_it_is_called(project, name):
    place = project.keep_upload(name, io.BytesIO(b"a,b\n1,2\n"))
    assert place.is_relative_to(project.folder / "inputs")
    assert place.parent.parent == project.folder / "inputs"


@pytest.mark.parametrize("name", ["x.exe", "x", "", "..", "x.csv.exe"])
def test_an_upload_of_no_type_that_is_read_is_refused(project, name):
    with pytest.raises(CelosiaError):
        file_name(name)


def test_an_upload_that_is_not_what_it_says_is_told_and_leaves_nothing(tmp_path):
    project = Project(tmp_path / "new")
    app = create(project, PORT)
    client = browser_of(app)
    client.get(app.link())
    answer = post(client, "/begin/upload", files={"file": ("people.parquet", b"this is no parquet")})
    assert answer.status_code == 422
    assert "That did not work" in answer.text
    assert not project.has_policy
    assert not list(project.state_folder.glob("upload-*"))


def test_a_value_that_breaks_is_not_in_a_log(project, capfd, monkeypatch):
    from celosia.studio.studio import Studio

    def broken(self, *_, **__):
        raise RuntimeError("Ana Secreta, 34")

    monkeypatch.setattr(Studio, "show", broken)
    app = create(project, PORT)
    client = testclient.TestClient(app, base_url=app.address)
    client.get(app.link())
    answer = client.get("/")
    assert answer.status_code == 500
    assert "RuntimeError" in answer.text
    out, err = capfd.readouterr()
    assert "Secreta" not in answer.text + out + err
