"""The command line: `porthos run model.yaml`. Heavy parts are imported by the command that needs them."""
