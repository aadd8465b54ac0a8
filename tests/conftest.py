# SPDX-License-Identifier: BSD-3-Clause
"""What programs that tests start under Open MPI find in their environment."""

import os

os.environ.update(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_btl_vader_single_copy_mechanism="none",
    OMPI_MCA_pml="ob1",  # no quarter of a second for networks when ranks start
    OMPI_MCA_odls_base_sigkill_timeout="0",  # nor two when one ends with an error
)
