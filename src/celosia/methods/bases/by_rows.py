"""Reasons why a method counts rows although a person may have several, shared by several methods."""

EACH_CELL = "each cell is changed by itself, whoever owns it"
NOISE_PER_ROW = (
    "each row gets noise of its own; what the rows of a person repeat can be averaged, which several-rows measures"
)
FITTED = "a model is fitted to rows; who has more of them weighs more in it"
EXCHANGED = "rows change places with rows that are near; a partner may be a row of the same person"
