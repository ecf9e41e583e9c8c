"""What came out of a run: named arrays, balances, files."""
