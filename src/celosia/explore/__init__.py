"""Explore: many candidates, measured with several seeds; the frontier between risk and loss; the best under limits."""

from celosia.explore.frontier import Estimate, Frontier, Point
from celosia.explore.verb import explore

__all__ = ["Estimate", "Frontier", "Point", "explore"]
