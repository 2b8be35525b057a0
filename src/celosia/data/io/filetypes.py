"""File types that can be read and written, by suffix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import files
from celosia.data.io.facts import Scan
from celosia.data.io.options import option_names, wrong_option
from celosia.errors import DataError, ParameterError, UnknownName, suggestion

if TYPE_CHECKING:
    import polars as pl

Reader = Callable[..., Scan]
Writer = Callable[..., None]

_TYPES: dict[str, FileType] = {}


@dataclass(frozen=True)
class FileType:
    """Type of file: its suffixes, reader and writer.

    ``read(path, **options)`` returns a :class:`Scan`; ``write(frame, draft, facts, **options)`` writes a lazy frame to
    a draft with the suffix of the target. Either may be None.
    """

    name: str
    suffixes: tuple[str, ...]
    summary: str
    read: Reader | None = None
    write: Writer | None = None


def register(kind: FileType) -> FileType:
    """Register a file type."""
    _TYPES[kind.name] = kind
    return kind


def file_types() -> dict[str, FileType]:
    """Return the registered file types by name.

    >>> sorted(file_types())[:3]
    ['csv', 'excel', 'json']
    """
    return dict(_TYPES)


def type_of(path: str | Path, name: str | None = None) -> FileType:
    """Return the type of a file by the name of the type, or by the suffix.

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


def check_options(kind: str, call: Callable[..., Any], options: Mapping[str, object], skip: int) -> None:
    """Raise if ``call`` does not accept an option or its value; its first ``skip`` arguments are not options."""
    names = option_names(call, skip)
    for name in options:
        if name not in names:
            hint = suggestion(name, names) if names else " It takes none."
            raise ParameterError(f"{kind}: no option {name!r}.{hint}")
    if wrong := wrong_option(call, skip, options):
        raise ParameterError(f"{kind}: {wrong}")


def existing_file(path: str | Path) -> Path:
    """Return the path of a regular file; raise if it does not exist."""
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


def collect_frame(frame: object) -> pl.DataFrame:
    """Collect the frame of any engine as Polars."""
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect(engine="streaming")
    if hasattr(frame, "pl"):
        eager: pl.DataFrame = frame.pl()
        return eager
    raise DataError(f"cannot write a {type(frame).__name__}: give a frame of Polars, DuckDB or Spark.")


def lazy_frame(frame: object) -> pl.LazyFrame:
    """Convert a frame of any engine to a Polars LazyFrame, categories as text: a file would list removed ones."""
    import polars as pl

    if type(frame).__module__.startswith("pyspark."):
        from celosia.data.engines import engine_named

        frame = engine_named("spark").to_polars_lazy(frame)
    lazy = frame if isinstance(frame, pl.LazyFrame) else collect_frame(frame).lazy()
    return lazy.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def refuse_nested(frame: pl.LazyFrame, origin: str) -> pl.LazyFrame:
    """Return the frame; raise if columns have lists or structs instead of one value per cell."""
    nested = [name for name, dtype in frame.collect_schema().items() if dtype.is_nested()]
    if nested:
        raise DataError(
            f"{origin}: column{'s' if len(nested) > 1 else ''} {', '.join(nested)} hold nested values, not one value"
            " per cell. Flatten or leave them out first."
        )
    return frame
