"""Which record of another file is whose: by distance, by chance, by what is known about the change."""
