"""Where the command line starts: builds the application, runs it, turns errors into exit codes.

0 done and requirements met · 1 internal error · 2 bad input · 3 done, but a requirement does not hold or cannot be met.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import typer

from celosia.cli import commands, gateway
from celosia.cli.consent import consent_app

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(
    name="celosia",
    help="Publish personal data safely: measure, protect, show what was lost, write the evidence down.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(commands.common)
app.command()(commands.demo)
app.command()(commands.init)
app.command()(commands.assess)
app.add_typer(commands.protect_app, name="protect")
app.command()(commands.compare)
app.command()(commands.explain_risk)
app.command()(commands.explore)
app.command()(commands.run)
app.command()(commands.apply)
app.command()(commands.verify)
app.command()(gateway.query)
app.add_typer(gateway.gateway_app, name="gateway")
app.add_typer(consent_app, name="consent")
app.command()(commands.reproduce)
app.command()(commands.parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    code = run(given)
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(code)


def run(given: list[str]) -> int:
    """Run a command and return its exit code."""
    from celosia.data.credentials import refuse_passwords
    from celosia.errors import BudgetError, CelosiaError, RequirementError

    try:
        refuse_passwords(given)
        if given and given[0] == "protect":
            from celosia.cli.parts import add_methods

            add_methods(commands.protect_app, given[1:])
        app(args=given, standalone_mode=False)
    except typer.Exit as end:
        return int(end.exit_code)
    except (RequirementError, BudgetError) as error:
        return _say(error, 3)
    except CelosiaError as error:
        return _say(error, 2)
    except (KeyboardInterrupt, typer.Abort):
        return _say("stopped.", 1)
    except Exception as error:
        return _unexpected(error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Polars, which does not call it an Exception
            raise
        return _unexpected(error)
    return commands.exit_code()


def _say(message: object, code: int) -> int:
    from celosia.cli.show import say

    say(f"celosia: {message}", error=True, lines=False)
    return code


def _unexpected(error: BaseException) -> int:
    """Usage errors of the command line show themselves; anything else is ours, without a value of the data."""
    show = getattr(error, "show", None)
    if callable(show):
        show()
        return int(getattr(error, "exit_code", 2))
    if os.environ.get("CELOSIA_TRACEBACK"):
        raise error
    where = type(error).__name__
    return _say(f"internal error ({where}). Set CELOSIA_TRACEBACK=1 to see where, and please report it.", 1)
