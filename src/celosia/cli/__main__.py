"""Run the command line: ``python -m celosia.cli``."""

from celosia.cli.main import main

main()
