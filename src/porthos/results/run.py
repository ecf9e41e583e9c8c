"""What every run knows of itself: its system, its scheme, and how it ended."""

from __future__ import annotations

from porthos.errors import Status
from porthos.integrate.march import March
from porthos.integrate.state_march import States
from porthos.system.descriptor import Descriptor


class Run:
    """A run of a scheme on a system."""

    system: Descriptor
    raw: March | States
    scheme: str

    def __repr__(self) -> str:
        count, end = len(self.raw.t), self.raw.t[-1]
        return (
            f"{type(self).__name__}('{self.system.name}': {count} states, t = 0 .. {end:.6g}, {self.scheme}, "
            f"{'complete' if self.status is Status.OK else self.status.name})"
        )

    @property
    def status(self) -> Status:
        """How the run ended."""
        return self.raw.status

    @property
    def message(self) -> str:
        """How the run ended, in a sentence."""
        return self.raw.message
