"""Changes of a file that happen completely or not at all, whenever the process is killed.

HDF5 changes a file in many places, and is lost if half of them are made. So it writes into an `Overlay` in memory; the
changed pages go to a journal beside the file, which gets its name when it is whole, and from there into the file. Who
finds a journal makes the changes again: `recover`.
"""

from __future__ import annotations

import io
import os
import shutil
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from porthos.errors import ResultError
from porthos.results.seal import PAGE, SUM, Seal, page_count, read_seal

try:
    import fcntl
except ImportError:  # Windows: files are not locked
    fcntl = None  # type: ignore[assignment]

PATIENCE = 60.0  # seconds to wait for somebody who reads the file
PAUSE = 0.05
HEADER = struct.Struct("<8sqq")  # magic, size of the file after the changes, number of pages
NUMBER = struct.Struct("<q")
CHECK = struct.Struct("<I")
MAGIC = b"porthos1"


class Overlay(io.RawIOBase):
    """What HDF5 knows of a sealed file, with changes on top of it that are only in memory."""

    def __init__(self, base: BinaryIO) -> None:
        super().__init__()
        self._base, self._at, self._seal = base, 0, read_seal(base)
        self.size = self._seal.size
        self.pages: dict[int, bytearray] = {}

    def readable(self) -> bool:
        """It can be read,"""
        return True

    def writable(self) -> bool:
        """written to"""
        return True

    def seekable(self) -> bool:
        """and read anywhere."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        return self._at

    def tell(self) -> int:
        """The present place."""
        return self._at

    def truncate(self, size: int | None = None) -> int:
        """Make the file shorter or longer."""
        self.size = self._at if size is None else size
        return self.size

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self.size - self._at))
        for place, number, start, length in _pieces(self._at, count):
            view[place : place + length] = self._page(number)[start : start + length]
        self._at += count
        return count

    def write(self, data: Any) -> int:
        """Change bytes, in memory."""
        view = memoryview(data).cast("B")
        for place, number, start, length in _pieces(self._at, len(view)):
            if number not in self.pages:
                self.pages[number] = bytearray(PAGE) if length == PAGE else self._page(number)
            self.pages[number][start : start + length] = view[place : place + length]
        self._at += len(view)
        self.size = max(self.size, self._at)
        return len(view)

    def _page(self, number: int) -> bytearray:
        if number in self.pages:
            return self.pages[number]
        return bytearray(self._seal.page(self._base, number).ljust(PAGE, b"\0"))

    def seal(self) -> None:
        """Put the sums of all pages behind the changed content; what was there before has to be sound."""
        for number in self.pages:
            self._seal.check(self._base, number)
        count = page_count(self.size)
        for number in range(min(self.size, self._seal.size) // PAGE, count):  # behind the content were the older sums
            self.pages.setdefault(number, self._page(number))
        sums = np.zeros(count, SUM)
        kept = min(count, len(self._seal.sums))
        sums[:kept] = self._seal.sums[:kept]
        for number, page in self.pages.items():
            if number < count:
                sums[number] = zlib.crc32(page[: self.size - number * PAGE])
        self.seek(self.size)
        self.write(Seal(self.size, sums).content)

    def journal(self) -> Iterator[bytes]:
        """The changes, in the form in which they are kept beside the file."""
        yield HEADER.pack(MAGIC, self.size, len(self.pages))
        for number, page in self.pages.items():
            yield NUMBER.pack(number)
            yield bytes(page)


def _pieces(at: int, count: int) -> Iterator[tuple[int, int, int, int]]:
    """(place in the buffer, number of the page, place in the page, length) of the parts of a range of bytes."""
    done = 0
    while done < count:
        number, start = divmod(at + done, PAGE)
        length = min(PAGE - start, count - done)
        yield done, number, start, length
        done += length


@contextmanager
def changing(path: Path) -> Iterator[Overlay]:
    """A file to change: all that is done to the overlay comes into the file, or nothing."""
    with path.open("r+b") as base:
        _lock(base, PATIENCE)
        _redo(base, path)
        overlay = Overlay(base)
        yield overlay
        overlay.seal()
        journal = journal_of(path)
        draft = journal.with_suffix(".part")
        try:
            _write(draft, overlay)
            _claim(base, path, overlay.size)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
        os.replace(draft, journal)
        _redo(base, path)


@contextmanager
def at_rest(path: Path) -> Iterator[None]:
    """A file that is sound, and to which nobody writes meanwhile."""
    with path.open("rb") as base:
        _lock(base, 0.0, shared=True)
        seal = read_seal(base)
        for number in range(len(seal.sums)):
            seal.check(base, number)
        yield


def recover(path: Path) -> None:
    """Finish changes of a file in the middle of which a process was killed."""
    if journal_of(path).exists():
        with path.open("r+b") as base:
            _lock(base, 0.0)
            _redo(base, path)


def journal_of(path: Path) -> Path:
    """Where the changes of a file are kept until they are in it."""
    return path.with_name(f".{path.name}.journal")


def _redo(base: BinaryIO, path: Path) -> None:
    """Bring the changes of a journal into the file, if there is one; it may have been done before in parts."""
    journal = journal_of(path)
    try:
        content = memoryview(journal.read_bytes())
    except FileNotFoundError:
        return
    changes, check = content[: -CHECK.size], content[-CHECK.size :]
    if len(changes) < HEADER.size or CHECK.pack(zlib.crc32(changes)) != check:
        raise ResultError(
            f"'{journal}': expected the last changes of '{path.name}', found a damaged file. If '{path.name}' can be "
            "read without it, remove it; if not, repeat the run."
        )
    _, size, count = HEADER.unpack_from(content)
    at = HEADER.size
    for _ in range(count):
        (number,) = NUMBER.unpack_from(content, at)
        at += NUMBER.size
        base.seek(number * PAGE)
        base.write(content[at : at + max(0, min(PAGE, size - number * PAGE))])
        at += PAGE
    base.flush()
    base.truncate(size)
    os.fsync(base.fileno())
    journal.unlink()


def _write(draft: Path, overlay: Overlay) -> None:
    """Write a journal and wait until it is on the disk."""
    check = 0
    with draft.open("wb") as file:
        for piece in overlay.journal():
            check = zlib.crc32(piece, check)
            file.write(piece)
        file.write(CHECK.pack(check))
        file.flush()
        os.fsync(file.fileno())


def _claim(base: BinaryIO, path: Path, size: int) -> None:
    """Claim the room that a file will need, or leave it as it is."""
    end = base.seek(0, os.SEEK_END)
    if size > end:
        if not hasattr(os, "posix_fallocate"):  # Windows and macOS
            free = shutil.disk_usage(path.parent).free
            if free < size - end:
                raise OSError(
                    f"found {free / 1e6:.1f} MB free, expected {(size - end) / 1e6:.1f} MB for the next states"
                )
            return
        try:
            os.posix_fallocate(base.fileno(), end, size - end)
        except OSError:
            base.truncate(end)
            raise


def _lock(base: BinaryIO, patience: float, shared: bool = False) -> None:
    """Wait until nobody else has the file open, or writes to it; HDF5 locks files in the same way."""
    until = time.monotonic() + patience
    while fcntl is not None:
        try:
            fcntl.flock(base, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE)
            continue
        except OSError:  # a file system without locks
            pass
        return
