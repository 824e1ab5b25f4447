"""``python -m modeshift`` is the command ``modeshift``."""

import sys

from modeshift.cli import main

sys.exit(main())
