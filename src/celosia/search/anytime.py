"""Search a lattice too large to list: descend first, then prove as much as time allows."""
