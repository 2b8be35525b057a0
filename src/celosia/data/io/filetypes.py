"""The file types that can be read and written, by suffix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import files
from celosia.data.io.facts import FileFacts, Scan
from celosia.data.io.options import option_names, wrong_option
from celosia.errors import DataError, ParameterError, UnknownName, suggestion

if TYPE_CHECKING:
    import polars as pl

Reader = Callable[..., Scan]
Writer = Callable[..., None]

_TYPES: dict[str, FileType] = {}


@dataclass(frozen=True)
class FileType:
    """How one type of file is recognised, read and written.

    ``read(path, **options)`` gives a :class:`Scan`; ``write(frame, draft, facts, **options)`` writes a lazy frame to
    a draft that ends like the target. Either may be missing.
    """

    name: str
    suffixes: tuple[str, ...]
    summary: str
    read: Reader | None = None
    write: Writer | None = None


def register(kind: FileType) -> FileType:
    """Make a file type known."""
    _TYPES[kind.name] = kind
    return kind


def file_types() -> dict[str, FileType]:
    """Return the known file types by name.

    >>> sorted(file_types())[:3]
    ['csv', 'excel', 'json']
    """
    return dict(_TYPES)


def type_of(path: str | Path, name: str | None = None) -> FileType:
    """Return the type of a file: the one named, or the one its suffix tells.

    >>> type_of("people.csv.gz").name
    'csv'
    """
    if name is not None:
        if str(name) not in _TYPES:
            raise UnknownName.of("file type", str(name), _TYPES)
        return _TYPES[str(name)]
    lowered = Path(path).name.lower()
    for kind in _TYPES.values():
        if lowered.endswith(kind.suffixes):
            return kind
    suffixes = sorted(suffix for kind in _TYPES.values() for suffix in kind.suffixes)
    suffix = Path(path).suffix or "no suffix"
    raise UnknownName(
        f"{Path(path).name!r}: no file type for {suffix}. Known are {', '.join(suffixes)}; or say type='csv'."
    )


def check_options(kind: str, call: Callable[..., Any], options: dict[str, Any], skip: int) -> None:
    """Raise when ``call`` does not take one of the options, or not that value; ``skip`` arguments are no options."""
    names = option_names(call, skip)
    for name in options:
        if name not in names:
            hint = suggestion(name, names) if names else " It takes none."
            raise ParameterError(f"{kind}: no option {name!r}.{hint}")
    if wrong := wrong_option(call, skip, options):
        raise ParameterError(f"{kind}: {wrong}")


def existing_file(path: str | Path) -> Path:
    """Return the path of a file that is there."""
    file = Path(path)
    try:
        return files.regular_file(file)
    except IsADirectoryError:
        raise DataError(f"{str(file)!r} is a directory, not a file.") from None
    except FileNotFoundError:
        near = [p.name for p in file.parent.iterdir()] if file.parent.is_dir() else []
        hint = suggestion(file.name, near) if near else ""
        raise DataError(f"no file {str(file)!r}.{hint if 'mean' in hint else ' Check the path.'}") from None
    except OSError as error:
        raise DataError(f"cannot read {str(file)!r}: {error.strerror}.") from None
    except ValueError:
        raise DataError(f"no file can have the name {str(file)!r}: it holds a null character.") from None


def collect_frame(frame: Any) -> pl.DataFrame:
    """Return a polars frame from whatever a table may hold: lazy or eager polars, or the frame of another engine."""
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect(engine="streaming")
    if hasattr(frame, "pl"):
        eager: pl.DataFrame = frame.pl()
        return eager
    raise DataError(f"cannot write a {type(frame).__name__}: give a frame of Polars, DuckDB or Spark.")


def lazy_frame(frame: Any) -> pl.LazyFrame:
    """Return the frame as a lazy one; a type that lists its values becomes text, or a file would list those gone."""
    import polars as pl

    if type(frame).__module__.startswith("pyspark."):
        from celosia.data.engines import engine_named

        frame = engine_named("spark").to_polars_lazy(frame)
    lazy = frame if isinstance(frame, pl.LazyFrame) else collect_frame(frame).lazy()
    return lazy.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def refuse_nested(frame: pl.LazyFrame, origin: str) -> pl.LazyFrame:
    """Refuse columns that hold lists or structures: every cell must be one value."""
    nested = [name for name, dtype in frame.collect_schema().items() if dtype.is_nested()]
    if nested:
        raise DataError(
            f"{origin}: column{'s' if len(nested) > 1 else ''} {', '.join(nested)} hold nested values, not one value"
            " per cell. Flatten or leave them out first."
        )
    return frame


__all__ = [
    "FileFacts",
    "FileType",
    "check_options",
    "collect_frame",
    "existing_file",
    "file_types",
    "lazy_frame",
    "refuse_nested",
    "register",
    "type_of",
]
