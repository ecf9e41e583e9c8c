"""`python -m porthos` is the command `porthos`."""

from porthos.cli.app import main

if __name__ == "__main__":
    main()
