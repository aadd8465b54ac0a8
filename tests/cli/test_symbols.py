# SPDX-License-Identifier: BSD-3-Clause
"""What Neve's libraries take from others: nothing of libm that computes."""

import re
import subprocess

import pytest

from .conftest import BUILD

LIBRARIES = ["lib/plugin/libh5neve.so", "lib/libneve.so", "lib/libneve_mpi.so"]
# They read and set the rounding mode, and compute nothing.
ALLOWED = {"fegetround", "fesetround", "fegetenv", "fesetenv", "feholdexcept"}


def symbols(path, which):
    table = subprocess.run(
        ["nm", "-D", which, str(path)], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1].split("@")[0] for line in table.splitlines() if line.split()}


def libm(library):
    needs = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    found = re.search(r"libm\.so\S* => (\S+)", needs)
    assert found, f"{library} loads no libm (the C++ library does): {needs}"
    return found.group(1)


@pytest.mark.parametrize("name", LIBRARIES)
def test_nothing_that_computes_comes_from_libm(name):
    """Any program's own symbol of that name would take its place (NCO's nearbyintf calls itself
    without end), and logarithms differ between versions of libm, on which choices, and so bytes,
    would depend."""
    library = BUILD / name
    taken = symbols(library, "--undefined-only") & symbols(libm(library), "--defined-only")
    assert taken <= ALLOWED
