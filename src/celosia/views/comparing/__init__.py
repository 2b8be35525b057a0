"""Two tables side by side, as losses and attacks look at them."""
