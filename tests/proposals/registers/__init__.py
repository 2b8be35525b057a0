"""Labelled tables in the manner of public registers: what suggestions are measured on.

Column names and notations are those of registers as they are published or exported (hospital discharges, population
registers, labour force and health surveys, schools, police, banks); the cells are generated. ``SEEN`` is the half on
which the suggestions were tuned, ``HELD`` the half that was written before that and set apart.
"""

from __future__ import annotations

from tests.proposals.registers.held import HELD
from tests.proposals.registers.making import Register, register
from tests.proposals.registers.seen import SEEN

__all__ = ["HELD", "SEEN", "Register", "register"]
