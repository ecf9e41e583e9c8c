"""What the user says: frozen dataclasses, words and units, no numerics."""
