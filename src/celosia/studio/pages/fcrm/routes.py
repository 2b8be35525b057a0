"""The routes of the playground, and where its board is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response, UploadFile
from fastapi.responses import PlainTextResponse
from pydantic import ValidationError

from celosia.data.io.atomic import replaced
from celosia.errors import CelosiaError, InputError
from celosia.studio import editing, forms
from celosia.studio.pages.fcrm import board as boards
from celosia.studio.pages.fcrm.board import Board
from celosia.studio.pages.fcrm.drawing import picture
from celosia.studio.pages.fcrm.view import view
from celosia.studio.studio import Page, Sent, Studio

if TYPE_CHECKING:
    from fastapi import APIRouter

    from celosia.studio.project import Project

HERE = "/fcrm"
FILE = "fcrm.json"
SAVED = "playground"
MOST_BYTES = 1 << 20


class Playground:
    """The board of a project, on disk: a reload or a restart goes on where it was."""

    def __init__(self, project: Project) -> None:
        self._path = project.own / FILE
        self._lock = threading.Lock()

    def board(self) -> Board:
        """The board as it is; a file that cannot be read is an empty board."""
        try:
            return Board.model_validate_json(self._path.read_text("utf-8"))
        except (FileNotFoundError, ValidationError):
            return Board()

    def change(self, edit: Callable[[Board], Board]) -> Board:
        """Replace the board by what an edit makes of it."""
        with self._lock:
            after = edit(self.board())
            with replaced(self._path, 0o600) as draft:
                draft.write_text(after.model_dump_json(), encoding="utf-8")
            return after


def routes(studio: Studio, router: APIRouter) -> None:
    """The addresses of the page."""
    ground = Playground(studio.project)
    _shown(studio, router, ground)
    _points(studio, router, ground)
    _fitting(studio, router, ground)
    _leaving(studio, router, ground)


def _shown(studio: Studio, router: APIRouter, ground: Playground) -> None:
    @router.get("")
    def show(request: Request) -> Response:
        return studio.show(request, "fcrm", **_values(studio, ground.board()))

    @router.post("/tick")
    def tick(request: Request) -> Response:
        """One iteration while the board runs; the page asks for the next when it has shown this one."""
        try:
            board = ground.change(lambda now: boards.stepped(now) if now.running else now)
        except CelosiaError:  # what cannot go on stops, or every reload would try again
            ground.change(lambda now: now.model_copy(update={"running": False}))
            raise
        return studio.draw(request, "fcrm", "stage.html.j2", **_values(studio, board))


def _values(studio: Studio, board: Board) -> dict[str, Any]:
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
    """The numeric columns of the project's data; none where they cannot be read, which other pages tell."""
    try:
        table = studio.samples.sample().table
    except CelosiaError:
        return []
    return [name for name, kind in table.polars_types().items() if kind.is_numeric() and name in table.schema.names]


def _points(studio: Studio, router: APIRouter, ground: Playground) -> None:
    @router.post("/point")
    def point(sent: Sent) -> Response:
        x, y = (forms.number(sent, name) for name in ("x", "y"))
        ground.change(lambda board: board.with_point(x, y))
        return studio.back(HERE)

    @router.post("/last")
    def last() -> Response:
        ground.change(Board.without_last)
        return studio.back(HERE)

    @router.post("/clear")
    def clear() -> Response:
        ground.change(Board.cleared)
        return studio.back(HERE, "cleared")

    @router.post("/example")
    def example() -> Response:
        ground.change(lambda board: board.cleared().changed(points=boards.example(), c=5, source="example"))
        return studio.back(HERE, "example")

    @router.post("/upload")
    def upload(file: UploadFile) -> Response:
        content = file.file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InputError("the file is too large for the playground: it takes 1 MB and 5000 points at most.")
        try:
            names, points = boards.read_points(content.decode("utf-8"))
        except UnicodeDecodeError:
            raise InputError("the file is not plain text in UTF-8.") from None
        ground.change(lambda board: board.cleared().changed(names=names, points=points, source="file"))
        return studio.back(HERE, "loaded")

    @router.post("/columns")
    def columns(sent: Sent) -> Response:
        names = str(sent.get("across", "")), str(sent.get("up", ""))
        numeric = _numeric(studio)
        if names[0] == names[1] or not set(names) <= set(numeric):
            raise InputError("choose two different numeric columns of the project's data.")
        frame = studio.samples.sample().table.polars().select(names).drop_nulls()
        points = tuple(frame.cast(dict.fromkeys(names, float)).head(boards.MOST_POINTS).rows())
        ground.change(lambda board: board.cleared().changed(names=names, points=points, source="project"))
        return studio.back(HERE, "loaded")


def _fitting(studio: Studio, router: APIRouter, ground: Playground) -> None:
    @router.post("/settings")
    def settings(sent: Sent) -> Response:
        ground.change(lambda board: _set(board, sent))
        return studio.back(HERE)

    @router.post("/run")
    def run(sent: Sent) -> Response:
        def begin(board: Board) -> Board:
            now = _set(board, sent)
            now = boards.stepped(now.changed() if now.finished else now)
            return now.model_copy(update={"running": not now.finished})

        ground.change(begin)
        return studio.back(HERE)

    @router.post("/step")
    def step(sent: Sent) -> Response:
        ground.change(lambda board: boards.stepped(_set(board, sent).model_copy(update={"running": False})))
        return studio.back(HERE)

    @router.post("/stop")
    def stop() -> Response:
        ground.change(lambda board: board.model_copy(update={"running": False}))
        return studio.back(HERE)

    @router.post("/again")
    def again() -> Response:
        ground.change(lambda board: board.changed(seed=board.seed + 1))
        return studio.back(HERE, "again")


def _set(board: Board, sent: dict[str, Any]) -> Board:
    """The board with the settings of the form; a fit goes on where they are the same."""
    wholes = ("c", "independent", "dependent", "max_iterations")
    lines = str(sent.get("constraints", "")).replace("\r", "").split("\n")
    chosen: dict[str, Any] = {
        **{name: forms.number(sent, name, whole=True) for name in wholes},
        "m": forms.number(sent, "m"),
        "intercept": "intercept" in sent,
        "constraints": tuple(line.strip() for line in lines if line.strip()),
    }
    return board if all(getattr(board, name) == value for name, value in chosen.items()) else board.changed(**chosen)


def _leaving(studio: Studio, router: APIRouter, ground: Playground) -> None:
    project = studio.project
    files: dict[str, Callable[[Board], str]] = {
        "points.csv": boards.points_csv,
        "synthetic.csv": boards.synthetic_csv,
        "readings.csv": boards.readings_csv,
        "picture.svg": lambda board: picture(view(board).drawing, alone=True),
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
        place = project.inside(SAVED)
        place.mkdir(exist_ok=True)
        with replaced(place / "points.csv", 0o600) as draft:
            draft.write_text(boards.points_csv(board), encoding="utf-8")
        return studio.back(HERE, "points_saved")

    @router.post("/use")
    def use(sent: Sent) -> Response:
        board = ground.board()
        if board.source != "project":
            raise InputError("take two columns of the project's data first: a step of the policy names its columns.")
        studio.change(sent, lambda text: editing.append(text, "step", board.method().spec()))
        return studio.back(HERE, "used")


PAGE = Page("fcrm", 120, "workbench", routes)
