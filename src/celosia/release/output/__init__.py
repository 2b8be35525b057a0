"""Output of a release: columns selected and checked by the guard, files written whole or not at all."""
