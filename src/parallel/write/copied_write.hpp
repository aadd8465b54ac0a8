// SPDX-License-Identifier: BSD-3-Clause
// A write that has copied its values in its call, and compresses them behind it: in a thread that calls
// neither MPI nor HDF5.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/write/held_boxes.hpp"

namespace neve::mpi {

class CopiedWrite {
 public:
  CopiedWrite() = default;
  CopiedWrite(const CopiedWrite&) = delete;
  virtual ~CopiedWrite() = default;

  virtual const std::string& path() const = 0;
  // Collective, when it is compressed: the second exchange. Its file is then one of those that are written
  // behind. An error is of all ranks.
  virtual Status place() = 0;

  // Not collective. Compresses from now on.
  Status start();
  // Until that is done. To be called before `place`, and before the end.
  void wait() noexcept;

 protected:
  // In the thread. Keeps its error.
  virtual void encode() noexcept = 0;

 private:
  std::thread thread_;
};

// Not collective. `boxes`, of `hierarchy`'s, with their values; without ghosts beyond them.
Result<HeldBoxes> copy_boxes(const Hierarchy& hierarchy, std::span<const LocalBox> boxes);

}  // namespace neve::mpi
