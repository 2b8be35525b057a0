"""The group ``celosia protect``: one command per method."""

from __future__ import annotations

from celosia.cli.bases.commands import ClickObject, Group


class Methods(Group):
    """One command per method; its options are built when the command is looked up."""

    def list_commands(self, ctx: ClickObject) -> list[str]:  # noqa: ARG002
        """Return the names of all methods."""
        from celosia.parts import parts

        return list(parts("method"))

    def get_command(self, ctx: ClickObject, cmd_name: str) -> ClickObject:
        """Return the command of a method; None for an unknown name during shell completion."""
        from celosia.cli.bases.method_options import method_command
        from celosia.errors import UnknownName
        from celosia.parts import find

        try:
            return method_command(find("method", cmd_name))
        except UnknownName:
            if ctx.resilient_parsing:
                return None
            raise
