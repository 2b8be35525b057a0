"""Methods that make values coarser."""
