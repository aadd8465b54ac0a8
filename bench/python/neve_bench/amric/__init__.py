# SPDX-License-Identifier: BSD-3-Clause
"""`neve study amric`: Wang et al., AMRIC, SC 2023, redone on plotfiles of one's own."""
