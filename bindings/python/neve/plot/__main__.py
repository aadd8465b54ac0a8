# SPDX-License-Identifier: BSD-3-Clause
"""`python -m neve.plot`, which is what `neve plot` runs."""

from __future__ import annotations

import sys

from ._command import main

sys.exit(main())
