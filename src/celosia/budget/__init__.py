"""Privacy-loss arithmetic and noise that withstands floating-point attacks.

Four subjects, one file each: who counts as a neighbour (:mod:`~celosia.budget.neighbours`), what a release
costs and how costs add up (:mod:`~celosia.budget.cost`, :mod:`~celosia.budget.composition`), how much noise a
cost allows (:mod:`~celosia.budget.scales`), and the noise itself (:mod:`~celosia.budget.noise`). No table and no
database here: numbers in, numbers out.
"""
