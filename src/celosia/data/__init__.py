"""The data and what is known of them: schema, engines, reading and writing."""
