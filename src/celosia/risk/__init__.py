"""The risk parts: each file holds one; all are found through the catalogue."""

from celosia.parts import package

__getattr__, __dir__ = package("risk", "attack")
