// SPDX-License-Identifier: BSD-3-Clause
// The datasets that hold a level's values, made without them: whoever fills them knows the addresses.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "io/hdf5/skip_driver.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::hdf5 {

// Chunked, with Neve's filter. `group` is the level's, open. The same properties whoever fills it, so that
// all strategies make the same kind of file.
Result<Handle> create_level_dataset(hid_t group, const std::string& name, DType dtype,
                                    uint64_t chunk_elements, uint64_t chunks);

// The same with its chunk index, in a file opened with the skip driver, which drops the frames. Their
// addresses: `wanted`, or where that is empty, what HDF5 chooses.
Result<std::vector<uint64_t>> place_chunks(hid_t group, const std::string& name, DType dtype,
                                           uint64_t chunk_elements, std::span<const uint64_t> frame_bytes,
                                           std::span<const uint64_t> wanted, SkipDriverState* driver);

// Contiguous, its space taken but not written to. Its address, likewise; without a driver HDF5 chooses it.
Result<uint64_t> place_contiguous(hid_t group, const std::string& name, DType dtype, uint64_t elements,
                                  std::optional<uint64_t> wanted, SkipDriverState* driver);

}  // namespace neve::hdf5
