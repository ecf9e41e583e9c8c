"""Pictures and reports of results."""
