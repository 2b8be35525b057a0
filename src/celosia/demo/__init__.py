"""The demonstration: a generated population of patients, a policy for it, and the main job on both."""

from celosia.demo.prepare import prepare

__all__ = ["prepare"]
