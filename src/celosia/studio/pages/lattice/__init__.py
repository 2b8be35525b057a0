"""The lattice: every combination of levels, what it costs and whether it is safe."""

from celosia.studio.pages.lattice.routes import PAGE

__all__ = ["PAGE"]
