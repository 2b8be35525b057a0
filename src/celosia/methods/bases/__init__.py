"""What methods share: cells, groups, conditions, codes."""
