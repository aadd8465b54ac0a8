// SPDX-License-Identifier: BSD-3-Clause
// A frame file (format/frame_file.hpp) written by all ranks.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/frame_file.hpp"
#include "io/files/temporary_file.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/openable_path.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

class FrameFileWriter {
 public:
  enum class Begin { anew, from_existing };

  // Collective. A new file stays under a temporary name until the first sync; an existing one is added to
  // behind its end, and its header changes last: whatever happens before, it is what it was.
  static Result<std::unique_ptr<FrameFileWriter>> open(MPI_Comm comm, std::string_view path, Begin begin);

  // Not collective: encodes the values, and holds the frames until the next collective call writes them.
  Status write(const Transfer& transfer, uint64_t first, const void* values, uint64_t count, Moved& moved);

  // Collective. Rounds of one block a rank: while one is written the next is encoded.
  Status write_all(const Transfer& transfer, uint64_t first, const void* values, uint64_t count,
                   Moved& moved);

  // Not collective. What was to be written is not in the file: nothing is published any more. Writes here
  // that fail do so by themselves.
  void fail(const Status& status) {
    if (failed_.ok()) failed_ = guarded("write", [&] { return status; });
  }
  // Collective without a message: the same, of a failure that is the same on all ranks.
  void fail_everywhere(const Status& status) {
    if (status.ok() || is_failure_agreed_) return;
    failed_ = guarded("write", [&] { return status; });
    is_failure_agreed_ = true;
  }

  // Collective: all that was written is in the file of the final name, durable. After a write that failed
  // it fails as well, and nothing is published any more.
  Status sync();
  // Collective: sync, and closes.
  Status close();
  // Collective: closes; what was written since the last sync is in no file.
  Status abandon();

  // Collective: afterwards every rank finds, by read(), what any of them had written.
  Status share_index();
  // Not collective: values as they would be read from the file, of all ranks up to the last share_index(),
  // and of this rank. They lie before values().
  Status read(uint64_t first, uint64_t count, std::byte* out, int threads, Moved& moved) const;

  // The file has at least so many values; those no frame holds are 0. The same on all ranks.
  void extend(uint64_t values) { values_ = std::max(values_, values); }

  const Comm& comm() const { return comm_; }
  // What this rank knows: collective writes of all ranks, and its own.
  std::optional<DType> dtype() const { return dtype_; }
  uint64_t values() const { return values_; }
  // Bytes of frames that wait for a collective call.
  uint64_t held_bytes() const { return held_bytes_; }

 private:
  struct Held {
    FrameFileEntry entry;
    Bytes frame;
  };
  struct Written {
    uint64_t order;  // of the collective call
    FrameFileEntry entry;
  };

  FrameFileWriter(Comm comm, std::string path) : comm_(std::move(comm)), path_(std::move(path)) {}

  Status begin_anew();
  Status begin_from_existing();
  Status open_written();
  Status settle_type(std::optional<DType> mine);
  Result<uint64_t> place(uint64_t bytes);
  Status write_frame(ByteSpan frame, FrameFileEntry entry);
  Status flush_held();
  Status hold(const Transfer& transfer, uint64_t first, const void* values, uint64_t count, Moved& moved);
  Status write_together(const Transfer& transfer, uint64_t first, const void* values, uint64_t count,
                        Moved& moved);
  Status write_rounds(const BlockEncoder& encoder, const BlockPlan& plan, uint64_t first, uint64_t rounds,
                      Moved& moved);
  Status collect_written();
  Status write_index();
  Status make_durable();
  Status agree_on_failure();
  Status settle();
  Status publish();

  Comm comm_;
  std::string path_;
  std::string written_path_;  // where the file lies: under a temporary name until it is published
  std::optional<files::TemporaryFile> temporary_;  // rank 0, until a new file has its name
  bool is_published_ = false;
  OpenablePath name_;
  MPI_File file_ = MPI_FILE_NULL;
  std::optional<DType> dtype_;
  uint64_t values_ = 0;
  uint64_t published_values_ = 0;           // by the last sync; the same on all ranks
  uint64_t end_ = frame_file_header_bytes;  // where the next frame goes; the same on all ranks
  uint64_t order_ = 0;                      // collective calls so far
  std::vector<Held> held_;
  uint64_t held_bytes_ = 0;
  std::vector<Written> written_;         // since the last sync or share_index
  std::vector<FrameFileEntry> entries_;  // rank 0: of all ranks, up to the last sync or share_index
  uint64_t shared_entries_ = 0;          // of them, what every rank has
  bool has_unpublished_ = false;         // among entries_
  Status failed_;                        // the first failure: what the file lacks
  bool is_failure_agreed_ = false;       // it is the same on all ranks
};

}  // namespace neve::mpi
