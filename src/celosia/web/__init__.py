"""Shared by the web applications: sessions, limits, headers, size checks."""
