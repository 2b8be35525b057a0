"""The command line: a thin skin over the verbs; options of parts derive from the catalogue."""
