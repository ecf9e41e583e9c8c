"""Sums behind the last byte of HDF5 in a result file, which show damage before HDF5 meets it.

HDF5 believes what it reads: on a damaged file it may search for ever, or crash. So each page of a file has a sum, and
HDF5 gets the file only if all sums are right. Other programs do not see them, for HDF5 knows where its part ends.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from porthos.errors import ResultError

PAGE = 2**16
SUM = np.dtype("<u4")
END = struct.Struct("<qI8s")  # bytes of HDF5, sum of the sums, magic
MAGIC = b"porthosS"


class Seal(NamedTuple):
    """How many bytes of a file are those of HDF5, and the sums of their pages."""

    size: int
    sums: NDArray[np.uint32]

    @property
    def content(self) -> bytes:
        """What stands behind the bytes of HDF5."""
        return self.sums.tobytes() + END.pack(self.size, zlib.crc32(self.sums.tobytes()), MAGIC)

    def page(self, base: BinaryIO, number: int) -> bytes:
        """The bytes of HDF5 in a page of the file; none behind them."""
        base.seek(number * PAGE)
        return base.read(max(0, min(PAGE, self.size - number * PAGE)))

    def check(self, base: BinaryIO, number: int) -> None:
        """Refuse a file of which a page is not as it was written, and say where."""
        page = self.page(base, number)
        if page and zlib.crc32(page) != self.sums[number]:
            first, last = number * PAGE, number * PAGE + len(page)
            raise ResultError(
                f"'{base.name}': expected what was written, found a file that is damaged between its bytes {first} and "
                f"{last}: they do not have their sum. Copy it again, or repeat the run."
            )


def page_count(size: int) -> int:
    """How many pages so many bytes take; the last one may be shorter."""
    return -(-size // PAGE)


def read_seal(base: BinaryIO) -> Seal:
    """The seal of a file, or an error if there is none, or a damaged one."""
    whole = _last_byte(base)
    base.seek(max(0, whole - END.size))
    end = base.read(END.size)
    size, check, magic = END.unpack(end) if len(end) == END.size else (0, 0, b"")
    if magic != MAGIC or not 0 <= size <= whole:
        raise ResultError(
            f"'{base.name}': expected a result with the sums at its end that Porthos writes, found none: it is "
            "truncated or damaged, of another program or changed by one, or of a Porthos before format 4. Copy it "
            "again, or repeat the run; what is of another program opens with xarray.open_dataset."
        )
    base.seek(size)
    content = base.read(page_count(size) * SUM.itemsize)
    if size + len(content) + END.size != whole or zlib.crc32(content) != check:
        raise ResultError(
            f"'{base.name}': expected {size} bytes and the sums of their pages, found a file of {whole} bytes that is "
            "damaged at its end. Copy it again, or repeat the run."
        )
    return Seal(size, np.frombuffer(content, SUM))


def _last_byte(base: BinaryIO) -> int:
    """Where a file ends without zeros: a process that was killed may have claimed room behind the seal."""
    end = base.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - PAGE)
        base.seek(start)
        page = base.read(end - start).rstrip(b"\0")
        if page:
            return start + len(page)
        end = start
    return 0


def seal_file(path: Path) -> None:
    """Put the sums of its pages behind the content of a file that HDF5 has written."""
    with path.open("r+b") as base:
        sums = [zlib.crc32(page) for page in iter(lambda: base.read(PAGE), b"")]
        base.write(Seal(base.tell(), np.array(sums, SUM)).content)
