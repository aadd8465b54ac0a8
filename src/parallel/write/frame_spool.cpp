// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/frame_spool.hpp"

namespace neve::mpi {

Result<FrameSpool> FrameSpool::beside(const std::string& temporary_path, int rank) {
  NEVE_ASSIGN(files::ScratchFile file,
              files::ScratchFile::make(temporary_path + ".frames" + std::to_string(rank)));
  return FrameSpool(std::move(file));
}

Result<uint64_t> FrameSpool::put(std::span<const std::byte> frame) {
  uint64_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    offset = end_;
    end_ += frame.size();
  }
  NEVE_TRY(file_.write(offset, frame));
  return offset;
}

Status FrameSpool::clear() {
  end_ = 0;
  return file_.clear();
}

}  // namespace neve::mpi
