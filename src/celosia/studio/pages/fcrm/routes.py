"""Routes of the FCRM playground, and the storage of its board."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

from fastapi import Request, Response, UploadFile
from fastapi.responses import PlainTextResponse
from pydantic import ValidationError

from celosia.data.io.atomic import replace_file
from celosia.errors import CelosiaError, InputError
from celosia.studio import forms, toml_edit
from celosia.studio.pages.fcrm import board as boards
from celosia.studio.pages.fcrm.board import Board
from celosia.studio.pages.fcrm.pictures import picture
from celosia.studio.pages.fcrm.view import View, view
from celosia.studio.studio import Page, Studio, SubmittedForm
from celosia.table.columns import column_types

if TYPE_CHECKING:
    from fastapi import APIRouter

    from celosia.studio.project import Project

HERE = "/fcrm"
FILE = "fcrm.json"
SAVED = "playground"
MOST_BYTES = 1 << 20


class PageValues(TypedDict):
    """Values of the templates of the page."""

    view: View
    board: Board
    picture: str
    snippets: boards.Snippets
    most: int
    columns: list[str]
    own: bool


class Playground:
    """The board of a project, stored in a file so that it survives a restart."""

    def __init__(self, project: Project) -> None:
        self._path = project.state_folder / FILE
        self._lock = threading.Lock()

    def board(self) -> Board:
        """Return the stored board; an unreadable file gives an empty board."""
        try:
            return Board.model_validate_json(self._path.read_text("utf-8"))
        except (FileNotFoundError, ValidationError):
            return Board()

    def change(self, edit: Callable[[Board], Board]) -> Board:
        """Apply an edit to the board and store the result."""
        with self._lock:
            after = edit(self.board())
            with replace_file(self._path, 0o600) as draft:
                draft.write_text(after.model_dump_json(), encoding="utf-8")
            return after


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    ground = Playground(studio.project)
    _page_routes(studio, router, ground)
    _point_routes(studio, router, ground)
    _fit_routes(studio, router, ground)
    _export_routes(studio, router, ground)


def _page_routes(studio: Studio, router: APIRouter, ground: Playground) -> None:
    @router.get("")
    def show(request: Request) -> Response:
        return studio.show(request, "fcrm", **_values(studio, ground.board()))

    @router.post("/tick")
    def tick(request: Request) -> Response:
        """Run one iteration; the page requests the next one after it has shown this one."""
        try:
            board = ground.change(lambda now: boards.advance(now) if now.running else now)
        except CelosiaError:  # stop, or every reload would try again
            ground.change(lambda now: now.model_copy(update={"running": False}))
            raise
        return studio.draw(request, "fcrm", "stage.html.j2", **_values(studio, board))


def _values(studio: Studio, board: Board) -> PageValues:
    shown = view(board)
    return {
        "view": shown,
        "board": board,
        "picture": picture(shown.drawing),
        "snippets": boards.snippets(board, f"{SAVED}/points.csv"),
        "most": boards.MOST_CLUSTERS,
        "columns": _numeric(studio),
        "own": board.source == "project",
    }


def _numeric(studio: Studio) -> list[str]:
    """Return the numeric columns of the data; empty if the data cannot be read (other pages show the error)."""
    try:
        table = studio.samples.sample().table
    except CelosiaError:
        return []
    return [name for name, kind in column_types(table).items() if kind.is_numeric() and name in table.schema.names]


def _point_routes(studio: Studio, router: APIRouter, ground: Playground) -> None:
    @router.post("/point")
    def point(sent: SubmittedForm) -> Response:
        x, y = (forms.read_number(sent, name) for name in ("x", "y"))
        ground.change(lambda board: board.with_point(x, y))
        return studio.redirect(HERE)

    @router.post("/last")
    def last() -> Response:
        ground.change(Board.without_last)
        return studio.redirect(HERE)

    @router.post("/clear")
    def clear() -> Response:
        ground.change(Board.clear)
        return studio.redirect(HERE, "cleared")

    @router.post("/example")
    def example() -> Response:
        ground.change(lambda board: board.clear().change(points=boards.example(), c=5, source="example"))
        return studio.redirect(HERE, "example")

    @router.post("/upload")
    def upload(file: UploadFile) -> Response:
        content = file.file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InputError("the file is too large for the playground: it takes 1 MB and 5000 points at most.")
        try:
            names, points = boards.read_points(content.decode("utf-8"))
        except UnicodeDecodeError:
            raise InputError("the file is not plain text in UTF-8.") from None
        ground.change(lambda board: board.clear().change(names=names, points=points, source="file"))
        return studio.redirect(HERE, "loaded")

    @router.post("/columns")
    def columns(sent: SubmittedForm) -> Response:
        names = sent.text("across", ""), sent.text("up", "")
        numeric = _numeric(studio)
        if names[0] == names[1] or not set(names) <= set(numeric):
            raise InputError("choose two different numeric columns of the project's data.")
        frame = studio.samples.sample().table.polars().select(names).drop_nulls()
        points = tuple(frame.cast(dict.fromkeys(names, float)).head(boards.MOST_POINTS).rows())
        ground.change(lambda board: board.clear().change(names=names, points=points, source="project"))
        return studio.redirect(HERE, "loaded")


def _fit_routes(studio: Studio, router: APIRouter, ground: Playground) -> None:
    @router.post("/settings")
    def settings(sent: SubmittedForm) -> Response:
        ground.change(lambda board: _set(board, sent))
        return studio.redirect(HERE)

    @router.post("/run")
    def run(sent: SubmittedForm) -> Response:
        def begin(board: Board) -> Board:
            now = _set(board, sent)
            now = boards.advance(now.change() if now.finished else now)
            return now.model_copy(update={"running": not now.finished})

        ground.change(begin)
        return studio.redirect(HERE)

    @router.post("/step")
    def step(sent: SubmittedForm) -> Response:
        ground.change(lambda board: boards.advance(_set(board, sent).model_copy(update={"running": False})))
        return studio.redirect(HERE)

    @router.post("/stop")
    def stop() -> Response:
        ground.change(lambda board: board.model_copy(update={"running": False}))
        return studio.redirect(HERE)

    @router.post("/again")
    def again() -> Response:
        ground.change(lambda board: board.change(seed=board.seed + 1))
        return studio.redirect(HERE, "again")


def _set(board: Board, sent: SubmittedForm) -> Board:
    """Return the board with the settings of the form; readings are kept if no setting changed."""
    wholes = ("c", "independent", "dependent", "max_iterations")
    lines = sent.text("constraints", "").replace("\r", "").split("\n")
    chosen: dict[str, object] = {
        **{name: forms.read_number(sent, name, whole=True) for name in wholes},
        "m": forms.read_number(sent, "m"),
        "intercept": "intercept" in sent,
        "constraints": tuple(line.strip() for line in lines if line.strip()),
    }
    return board if all(getattr(board, name) == value for name, value in chosen.items()) else board.change(**chosen)


def _export_routes(studio: Studio, router: APIRouter, ground: Playground) -> None:
    project = studio.project
    files: dict[str, Callable[[Board], str]] = {
        "points.csv": boards.points_csv,
        "synthetic.csv": boards.synthetic_csv,
        "readings.csv": boards.readings_csv,
        "picture.svg": lambda board: picture(view(board).drawing, standalone=True),
    }

    @router.get("/export/{name}")
    def export(name: str) -> Response:
        if name not in files:
            raise InputError(f"there is no such file; there are {', '.join(files)}.")
        kind = "image/svg+xml" if name.endswith(".svg") else "text/csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return PlainTextResponse(files[name](ground.board()), media_type=kind, headers=headers)

    @router.post("/save")
    def save() -> Response:
        board = ground.board()
        if not board.points:
            raise InputError("there are no points to save: click some, load a file or take the example.")
        place = project.resolve(SAVED)
        place.mkdir(exist_ok=True)
        with replace_file(place / "points.csv", 0o600) as draft:
            draft.write_text(boards.points_csv(board), encoding="utf-8")
        return studio.redirect(HERE, "points_saved")

    @router.post("/use")
    def use(sent: SubmittedForm) -> Response:
        board = ground.board()
        if board.source != "project":
            raise InputError("take two columns of the project's data first: a step of the policy names its columns.")
        studio.change(sent, lambda text: toml_edit.append(text, "step", board.method().spec()))
        return studio.redirect(HERE, "used")


PAGE = Page("fcrm", 120, "workbench", routes)
