"""Privacy-loss arithmetic and noise that withstands floating-point attacks.

Four subjects, one file each: who counts as a neighbour (``neighbours``), what a release costs and how costs add up
(``cost``, ``composition``), how much noise a cost allows (``scales``), and the noise itself (``noise``). No table and
no database here: numbers in, numbers out.
"""
