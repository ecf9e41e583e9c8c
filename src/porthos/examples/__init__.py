"""Examples that `porthos examples` lists: model files, and Python files of systems that are no mechanisms alone."""
