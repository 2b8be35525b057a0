"""The studio: the whole job in a browser. It edits a policy; every number comes from the verbs of the library."""
