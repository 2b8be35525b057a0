"""What the commands share: options, what is read, what is printed."""
