"""Methods that exchange or redraw values."""
