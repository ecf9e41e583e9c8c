"""What the machine computes: compiled functions on flat tables, no classes."""
