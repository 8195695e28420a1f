"""``python -m hermes_core.cli``."""

import sys

from hermes_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
