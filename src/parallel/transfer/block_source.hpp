// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"

namespace neve::mpi {

// Blocks that are encoded when they are asked for.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  virtual size_t blocks() const = 0;
  // Of which each may ask for blocks at the same time.
  virtual int threads() const = 0;
  // The same bytes whenever and on whichever thread it is asked for.
  virtual Result<Bytes> encode(size_t block) const = 0;

 protected:
  BlockSource() = default;
  BlockSource(const BlockSource&) = default;
  BlockSource(BlockSource&&) = default;
  BlockSource& operator=(const BlockSource&) = default;
  BlockSource& operator=(BlockSource&&) = default;
};

}  // namespace neve::mpi
