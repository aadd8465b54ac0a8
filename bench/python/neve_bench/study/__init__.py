# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench study`: the mini-apps by outputs, layouts and ranks, from one deck to a report."""
