"""Shared by the commands: options, input, output."""
