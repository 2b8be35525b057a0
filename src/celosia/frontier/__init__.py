"""Explore: many candidates, measured with several seeds; the frontier between risk and loss; the best under limits;
and the method that a suggested policy proposes.
"""

from celosia.frontier.exploration import explore
from celosia.frontier.method_choice import MethodChoice, MethodTrial, choose_method, suggested_policy
from celosia.frontier.points import Estimate, Frontier, Point

__all__ = [
    "Estimate",
    "Frontier",
    "MethodChoice",
    "MethodTrial",
    "Point",
    "choose_method",
    "explore",
    "suggested_policy",
]
