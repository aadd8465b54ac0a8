// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/file_behind.hpp"

#include <unistd.h>

#include <cerrno>
#include <span>
#include <utility>

#include "parallel/comm/fault.hpp"
#include "parallel/file/direct_put.hpp"

namespace neve::mpi {

Status FileBehind::make_marks(const Comm& comm, const Target& target) {
  if (comm.rank() != 0) return {};
  return files::create_marks(target.temporary_path() + marks_suffix, static_cast<size_t>(comm.size()));
}

void FileBehind::Contents::stage_structure() {
  if (stage == nullptr) return;
  constexpr uint32_t of_no_dataset = 0;
  std::erase_if(structure.runs, [&](const hdf5::HeldFile::Run& run) {
    const auto place = stage->put(std::as_bytes(std::span(run.bytes)));
    if (place) pieces.add_put_aside(run.address, stage->spool(), *place, run.bytes.size(), of_no_dataset);
    return place.has_value();
  });
}

void FileBehind::seal(const Comm& comm, const std::string& path, Target target, Contents contents,
                      bool is_beside_root, Status mine) noexcept {
  rank_ = comm.rank();
  ranks_ = comm.size();
  is_beside_root_ = is_beside_root;
  target_.emplace(std::move(target));
  contents_ = std::move(contents);
  holds_frames_ = contents_.are_in_memory();
  mine_ = std::move(mine);
  const Status named = guarded("write behind", [&]() -> Status {
    path_ = path;
    temporary_path_ = target_->temporary_path();
    return {};
  });
  if (mine_.ok()) mine_ = std::move(named);
}

Status FileBehind::put_parts() {
  NEVE_TRY(mine_);
  NEVE_TRY(injected_fault(Phase::write, rank_));
  if (contents_.stage != nullptr) NEVE_TRY(injected_fault(Phase::drain, rank_));
  uint64_t regions = 0;
  NEVE_TRY(put_directly(temporary_path_, contents_.pieces.pieces(), contents_.pieces.load(), !is_beside_root_,
                        regions));
  // (Rank 0 makes all of the file durable when it gets its name.)
  if (rank_ == 0) NEVE_TRY(contents_.structure.write_into(temporary_path_));
  return injected_fault(Phase::sync, rank_);
}

Status FileBehind::put() noexcept {
  const Status put = guarded("write", [&] { return put_parts(); });
  contents_ = {};
  // What nobody will need any more must not keep a full disk full. (Others may still be writing into it.)
  if (!put.ok() && ::truncate(temporary_path_.c_str(), 0) != 0) errno = 0;
  const Status marked = guarded("write", [&] {
    return files::set_mark(marks_path(), static_cast<size_t>(rank_),
                           put.ok() ? files::Mark::done : files::Mark::failed);
  });
  // Without its mark rank 0 learns of it when the ranks meet next.
  static_cast<void>(marked);
  if (put.ok()) return put;
  return guarded("write", [&] { return lost(path_, put); });
}

files::Mark FileBehind::common_mark() const noexcept {
  files::Mark mark = files::Mark::none;
  static_cast<void>(guarded("write", [&]() -> Status {
    NEVE_ASSIGN(mark, files::common_mark(marks_path(), static_cast<size_t>(ranks_)));
    return {};
  }));
  return mark;
}

Status FileBehind::publish() noexcept {
  const Status published = guarded("rename", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::rename, rank_));
    return target_->commit();
  });
  target_.reset();
  if (published.ok()) return published;
  return guarded("rename", [&] { return lost(path_, published); });
}

void FileBehind::drop() noexcept { target_.reset(); }

}  // namespace neve::mpi
