"""Explore: many candidates, measured with several seeds; the frontier between risk and loss; the best under limits."""

from celosia.frontier.exploration import explore
from celosia.frontier.points import Estimate, Frontier, Point

__all__ = ["Estimate", "Frontier", "Point", "explore"]
