// SPDX-License-Identifier: BSD-3-Clause
// Whether a file spends enough bytes on a list before memory is taken for it: a filter that packs well, a
// chunk that was never written and links that name one dataset many times claim any number of elements for
// nothing.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "neve/status.hpp"

namespace neve::hdf5 {

// All that lists of a file may take together.
uint64_t max_list_bytes(uint64_t file_bytes);

// `before`: bytes of other lists of its kind that were read already. Errors: corrupt.
Status check_paid_for(hid_t dataset, const std::string& name, uint64_t count, uint64_t element_bytes,
                      uint64_t before = 0);

}  // namespace neve::hdf5
