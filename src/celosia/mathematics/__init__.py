"""The mathematics: numbers in, numbers out; nothing here knows a table."""
