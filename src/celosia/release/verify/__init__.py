"""Whether a release is what its certificate says: claim by claim, from the written file."""
