"""From a policy to a release: measuring, running, the evidence, and what others do with it."""
