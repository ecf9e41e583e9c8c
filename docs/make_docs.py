"""Writes the picture of the README and the reference of the public names; run by `make docs`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def readme_example() -> str:
    """The first Python block of the README."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]


def main() -> None:
    """Run the example in an empty folder, keep its picture, and write the reference to build/docs."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", readme_example()], cwd=folder, check=True)
        os.replace(Path(folder) / "double_pendulum.png", ROOT / "docs/images/double_pendulum.png")
    subprocess.run([sys.executable, "-m", "pdoc", "-o", "build/docs", "porthos"], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
