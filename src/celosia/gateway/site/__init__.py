"""The gateway over HTTP: pages in three languages and a JSON interface."""
