"""``python -m celosia``: the command line."""

from celosia.cli.main import main

if __name__ == "__main__":
    main()
