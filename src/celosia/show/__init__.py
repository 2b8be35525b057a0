"""How results are shown: blocks for a terminal, a notebook or a page."""
