"""The inferences that may be blocked, and how records match them."""
