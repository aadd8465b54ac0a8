// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/frame_run.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <future>
#include <limits>

#include "core/codecs/frame_values.hpp"
#include "core/format/last_of_place.hpp"

namespace neve::mpi {
namespace {

// What is stored of pieces, one after another, the next one under way.
class StoredAhead {
 public:
  StoredAhead(const plotfile::File& file, const std::vector<WantedPiece>& wanted)
      : file_(file), wanted_(wanted) {}

  // Valid until the next call.
  Result<ByteSpan> take(size_t i) {
    const Status read = next_.valid() ? next_.get() : load(i);
    // Where the system gives no thread it is read when it is asked for.
    if (i + 1 < wanted_.size()) next_ = std::async([this, i] { return load(i + 1); });
    NEVE_TRY(read);
    return ByteSpan(wanted_[i].stored != nullptr ? *wanted_[i].stored : stored_[i % 2]);
  }

 private:
  Status load(size_t i) {
    const FramePiece& piece = *wanted_[i].piece;
    if (wanted_[i].stored != nullptr) return {};
    if (piece.bytes > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      return corrupt(
          fmt::format("{}: a piece of {} bytes; at most 2^31 - 1 are allowed", file_.path(), piece.bytes));
    }
    return guarded("read", [&] {
      stored_[i % 2].resize(piece.bytes);
      return piece.bytes == 0 ? Status() : file_.read(static_cast<int64_t>(piece.at), stored_[i % 2]);
    });
  }

  const plotfile::File& file_;
  const std::vector<WantedPiece>& wanted_;
  std::array<Bytes, 2> stored_;
  std::future<Status> next_;  // ends before what is stored does: its destructor waits
};

}  // namespace

Status check_asked(const std::string& path, std::span<const FileBox> asked, uint64_t bytes) {
  for (const FileBox& box : asked) {
    NEVE_TRY(check_file_box(box).in(path));
    if (box.end() <= bytes) continue;
    return usage_error(fmt::format("{}: bytes {} to {} are asked for; the file holds {}", path, box.first,
                                   box.end(), bytes));
  }
  return {};
}

Status read_pieces(const plotfile::File& file, std::vector<WantedPiece> pieces,
                   std::span<const FileBox> asked, std::byte* out, int threads, Moved& moved) {
  return guarded("read", [&]() -> Status {
    keep_last_of_place(pieces,
                       [](const WantedPiece& wanted) -> const FilePlace& { return wanted.piece->place; });
    uint64_t bytes = 0;
    for (const FileBox& box : asked) bytes += box.bytes();
    std::memset(out, 0, bytes);
    StoredAhead ahead(file, pieces);
    for (size_t i = 0; i < pieces.size(); ++i) {
      NEVE_ASSIGN(const ByteSpan stored, ahead.take(i));
      const FramePiece& piece = *pieces[i].piece;
      NEVE_TRY(put_piece(piece, stored, asked, out, threads)
                   .in(fmt::format("{}: piece at byte {}", file.path(), piece.at)));
      moved.frame_bytes += stored.size();
      ++moved.blocks;
    }
    return {};
  });
}

}  // namespace neve::mpi
