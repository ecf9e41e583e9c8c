"""`python -m benchmarks [--quick] [--only NAME ...] [--figure]`, see benchmarks/run.py."""

import sys
from importlib.util import find_spec

missing = [name for name in ("exudyn", "mujoco") if find_spec(name) is None]
if missing:
    sys.exit(f"benchmarks: {' and '.join(missing)} not found. Try: python -m pip install -e '.[bench]'")

from benchmarks.run import main  # noqa: E402

sys.exit(main())
