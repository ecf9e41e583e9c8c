"""From one state to the next."""
