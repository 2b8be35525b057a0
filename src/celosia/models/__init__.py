"""Models, imported on first use."""

from celosia.parts import lazy_package

__getattr__, __dir__ = lazy_package("model")
