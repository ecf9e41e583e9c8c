"""The assembled system: tables, its pH-DAE forms, initial values, checks, interconnection."""
