"""Entry point of the command line: builds the application, runs it, turns errors into exit codes.

0 done and requirements met · 1 internal error · 2 bad input · 3 done, but a requirement does not hold or cannot be met.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from typing import TYPE_CHECKING

import typer

from celosia.cli.apply import apply
from celosia.cli.assess import assess
from celosia.cli.bases.commands import Group, show_plainly
from celosia.cli.bases.methods import Methods
from celosia.cli.bases.options import common, end_with, exit_code
from celosia.cli.compare import compare
from celosia.cli.compare_codings import compare_codings
from celosia.cli.consent import consent_app
from celosia.cli.demo import demo
from celosia.cli.doctor import doctor
from celosia.cli.explain_risk import explain_risk
from celosia.cli.explore import explore
from celosia.cli.gateway import gateway_app
from celosia.cli.import_ import import_
from celosia.cli.init import init
from celosia.cli.key import key
from celosia.cli.parts import parts
from celosia.cli.protect import protect_app
from celosia.cli.query import query
from celosia.cli.report import report
from celosia.cli.reproduce import reproduce
from celosia.cli.run import run as run_command
from celosia.cli.studio import studio
from celosia.cli.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

app = typer.Typer(
    name="celosia",
    cls=Group,
    help="Publish personal data safely: measure, protect, show what was lost, write the evidence down.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(common)
COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "The main job": (demo, init, import_, run_command, studio),
    "Measure and compare": (assess, compare, compare_codings, explain_risk, explore),
    "After a release": (verify, apply, report, key),
    "Questions instead of files": (query,),
    "Look things up": (parts, doctor, reproduce),
}
"""The commands under the headings of the help."""
GROUPS = {
    "protect": (protect_app, "The main job", Methods),
    "gateway": (gateway_app, "Questions instead of files", Group),
    "consent": (consent_app, "Questions instead of files", Group),
}
REFUSED = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EISDIR,
    errno.ELOOP,
    errno.EMFILE,
    errno.ENAMETOOLONG,
    errno.ENOSPC,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
}
"""Errors of the operating system about a path; any other is an internal error."""
OWN_SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True}
for panel, commands in COMMANDS.items():
    for command in commands:
        settings = OWN_SETTINGS if command is reproduce else None
        name = "reproduce" if command is reproduce else command.__name__.strip("_").replace("_", "-")
        app.command(name, context_settings=settings, rich_help_panel=panel)(command)
for name, (group, panel, shape) in GROUPS.items():
    app.add_typer(group, name=name, cls=shape, rich_help_panel=panel)
show_plainly(app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    code = run(given)
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(code)


def run(given: list[str]) -> int:
    """Run a command and return its exit code."""
    from celosia.cli.bases.environment import check_environment
    from celosia.data.credentials import refuse_passwords
    from celosia.errors import BudgetError, CelosiaError, Contradiction, RequirementError, explain_failures

    end_with(0)  # of the last command in this process
    try:
        refuse_passwords(given)
        check_environment()
        with explain_failures():
            _application()(args=given, standalone_mode=False)
    except typer.Exit as end:
        return int(end.exit_code)
    except (RequirementError, BudgetError) as error:
        return _print_error(error, 3)
    except Contradiction as error:
        return _print_error(error, 1)
    except CelosiaError as error:
        return _print_error(error, 2)
    except (KeyboardInterrupt, typer.Abort):
        return _print_error("stopped.", 1)
    except MemoryError:
        return _print_error("this needs more memory than there is. Give less data, or fewer columns or levels.", 2)
    except OSError as error:
        if error.errno not in REFUSED:
            return _report(error)
        named = "" if error.filename is None else f"{str(error.filename)!r}: "
        return _print_error(f"{named}{error.strerror}.", 2)
    except Exception as error:
        return _report(error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Polars, which does not call it an Exception
            raise
        return _report(error)
    return exit_code()


@cache
def _application() -> Callable[..., object]:
    """Return the commands with all their options, built once per process."""
    from typer.main import get_command

    return get_command(app)


def _print_error(message: object, code: int) -> int:
    from celosia.cli.bases.show import print_text
    from celosia.errors import truncate

    print_text(truncate(f"celosia: {message}"), error=True, lines=False)
    return code


def _report(error: BaseException) -> int:
    """Show usage errors; report any other error as internal, without a value of the data."""
    from celosia.errors import truncate

    show = getattr(error, "show", None)
    if callable(show):
        error.message = truncate(error.message)  # type: ignore[attr-defined]
        show()
        return int(getattr(error, "exit_code", 2))
    if os.environ.get("CELOSIA_TRACEBACK"):
        raise error
    where = type(error).__name__
    return _print_error(f"internal error ({where}). Set CELOSIA_TRACEBACK=1 to see where, and please report it.", 1)
