"""How the wishes are honoured in the data."""
