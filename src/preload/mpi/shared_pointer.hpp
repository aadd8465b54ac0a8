// SPDX-License-Identifier: BSD-3-Clause
// The file pointer that all ranks share, of a file of frames.
#pragma once

#include <cstdint>
#include <string>

#include "parallel/comm/agree.hpp"

namespace neve::pmpi {

class SharedPointer {
 public:
  SharedPointer() = default;
  SharedPointer(const SharedPointer&) = delete;
  SharedPointer& operator=(const SharedPointer&) = delete;
  ~SharedPointer() { forget(); }

  // Collective. Chooses where the pointer lies: in a file beside `path`, which the first use makes. It stands
  // so many bytes behind the view's beginning, the same on all ranks.
  Status place(const mpi::Comm& comm, const std::string& path, uint64_t start = 0);
  // Not collective: moves it on; where it was, in bytes of the view.
  Result<uint64_t> advance(uint64_t bytes);
  Result<uint64_t> value() { return advance(0); }
  // Collective without a message: it lies nowhere any more.
  void forget();
  bool has_place() const { return !path_.empty(); }

 private:
  std::string path_;
  bool is_remover_ = false;  // rank 0
  bool is_used_ = false;     // by this rank
  uint64_t start_ = 0;
};

}  // namespace neve::pmpi
