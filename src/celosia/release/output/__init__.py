"""What leaves: which columns, looked at by the guard, written whole or not at all."""
