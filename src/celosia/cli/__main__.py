"""Run the command line: ``python -m celosia.cli``."""

from celosia.cli import leave_directory

if __name__ == "__main__":
    leave_directory()
    from celosia.cli.main import main

    main()
