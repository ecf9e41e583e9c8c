"""Parts of a system by their names."""

from __future__ import annotations

from porthos.errors import PorthosError, is_among, nearest


class Named:
    """What has bodies, joints and force elements with names."""

    name: str
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    element_names: tuple[str, ...]

    def body_index(self, name: str) -> int:
        """The number of a body."""
        return self._index("body", self.body_names, name)

    def joint_index(self, name: str) -> int:
        """The number of a joint."""
        return self._index("joint", self.joint_names, name)

    def element_index(self, name: str) -> int:
        """The number of a force element."""
        return self._index("force element", self.element_names, name)

    def _index(self, what: str, names: tuple[str, ...], name: str) -> int:
        if not is_among(name, names):
            raise PorthosError(f"system '{self.name}' has no {what} '{name}'. {nearest(name, names)}")
        return names.index(name)
