"""Ways to look at a table that parts of several kinds share: domains covered, patterns of keys, regions, encodings."""
