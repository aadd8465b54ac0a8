# SPDX-License-Identifier: BSD-3-Clause
# A package, so that its conftest and that of tests/python do not meet under one name.
