"""The studio: the whole job in a browser. Pages edit a policy; every number comes from the verbs of the library."""
