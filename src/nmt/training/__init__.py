"""Batches, the optimizer, the loop over epochs, and the state that survives a stop."""
