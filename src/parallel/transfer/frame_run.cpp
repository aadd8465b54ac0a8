// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/frame_run.hpp"

#include <array>
#include <cstring>
#include <future>
#include <limits>
#include <string>

namespace neve::mpi {
namespace {

// The frames of a run, one after another, the next one under way.
class FramesAhead {
 public:
  FramesAhead(const plotfile::File& file, const FrameFileIndex& index, const std::vector<size_t>& wanted)
      : file_(file), index_(index), wanted_(wanted) {}

  // Valid until the next call.
  Result<ByteSpan> take(size_t i) {
    const Status read = next_.valid() ? next_.get() : load(i);
    // Where the system gives no thread it is read when it is asked for.
    if (i + 1 < wanted_.size()) next_ = std::async([this, i] { return load(i + 1); });
    NEVE_TRY(read);
    return ByteSpan(frames_[i % 2]);
  }

 private:
  Status load(size_t i) {
    const FrameFileEntry& entry = index_.entries[wanted_[i]];
    if (entry.bytes > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      return corrupt(file_.path() + ": a frame of " + std::to_string(entry.bytes) +
                     " bytes; at most 2^31 - 1 are allowed");
    }
    return guarded("read", [&] {
      frames_[i % 2].resize(entry.bytes);
      return file_.read(static_cast<int64_t>(entry.at), frames_[i % 2]);
    });
  }

  const plotfile::File& file_;
  const FrameFileIndex& index_;
  const std::vector<size_t>& wanted_;
  std::array<Bytes, 2> frames_;
  std::future<Status> next_;  // ends before the frames do: its destructor waits
};

}  // namespace

Status read_frames(const plotfile::File& file, const FrameFileIndex& index, const ValueRun& run,
                   std::byte* out, int threads, Moved& moved) {
  NEVE_TRY(check_run(index, run).in(file.path()));
  return guarded("read", [&]() -> Status {
    const std::vector<size_t> wanted = entries_of(index, run);
    if (has_holes(index, wanted, run)) std::memset(out, 0, run.count * dtype_bytes(index.dtype));
    FramesAhead frames(file, index, wanted);
    for (size_t i = 0; i < wanted.size(); ++i) {
      NEVE_ASSIGN(const ByteSpan frame, frames.take(i));
      NEVE_TRY(put_values(index.entries[wanted[i]], frame, index.dtype, run, out, threads)
                   .in(file.path() + ": frame " + std::to_string(wanted[i])));
      moved.frame_bytes += frame.size();
      ++moved.blocks;
    }
    return {};
  });
}

}  // namespace neve::mpi
