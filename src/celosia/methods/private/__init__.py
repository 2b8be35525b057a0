"""Methods with a differential-privacy guarantee."""
