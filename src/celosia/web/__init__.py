"""What the web parts share: visits that end, limits, headers, sizes."""
