# SPDX-License-Identifier: BSD-3-Clause
"""Why a package has no neve command, and what helps. It imports nothing of the package, since the
script `neve` asks it without it.
"""

from __future__ import annotations

import os

# As CMake knows them, and Debian.
_DEBIAN = {
    "CLI11": "libcli11-dev",
    "tomlplusplus": "libtomlplusplus-dev",
    "nlohmann_json": "nlohmann-json3-dev",
}


def why_no_command(folder: str) -> str:
    """`folder` is where the command would be. What was missing when the package was built is in a
    file there (bindings/python/CMakeLists.txt).
    """
    try:
        with open(os.path.join(folder, "missing.txt"), encoding="utf-8") as file:
            missing = [name for name in file.read().strip().split(";") if name]
    except OSError:
        return f"{folder}: no neve command there; `make build` in the checkout, or `pip install .`"
    packages = " ".join(_DEBIAN.get(name, name) for name in missing)
    return (
        f"the command was not built when neve was installed: {', '.join(missing)} not found. "
        f"Cure: install them (Debian: apt-get install {packages}), and `pip install .` again"
    )
