# SPDX-License-Identifier: BSD-3-Clause
"""Writes what importlib.metadata knows of an installed package, for the one in the build.

    python dist_info.py pyproject.toml FOLDER

Name, version and entry points become FOLDER/neve-<version>.dist-info: xarray finds engine="neve"
of a checkout by them, as it does that of a wheel.
"""

import shutil
import sys
from pathlib import Path

import tomllib


def main(project_file: str, folder: str) -> None:
    project = tomllib.loads(Path(project_file).read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    info = Path(folder) / f"{name}-{version}.dist-info"
    for former in Path(folder).glob(f"{name}-*.dist-info"):
        shutil.rmtree(former)
    info.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    lines = []
    for group, entries in project.get("entry-points", {}).items():
        lines += [f"[{group}]", *(f"{entry} = {target}" for entry, target in entries.items()), ""]
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
