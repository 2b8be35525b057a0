"""The page of comparisons and explorations."""
