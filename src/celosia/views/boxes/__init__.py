"""The boxes of a partition: how they are recorded, replayed and shown."""
