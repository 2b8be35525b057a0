"""The risk parts: each file holds one; all are found through the catalogue."""

from celosia.parts import lazy_package

__getattr__, __dir__ = lazy_package("risk", "attack")
