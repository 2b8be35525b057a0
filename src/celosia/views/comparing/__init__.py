"""Two tables side by side, as losses and attacks compare them."""
