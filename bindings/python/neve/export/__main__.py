# SPDX-License-Identifier: BSD-3-Clause
"""`python -m neve.export`, which is what `neve export` runs."""

from __future__ import annotations

import sys

from ._command import main

sys.exit(main())
