// SPDX-License-Identifier: BSD-3-Clause
// A frame file (format/frame_file.hpp) written by all ranks.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/frame_file.hpp"
#include "mpi/agree.hpp"
#include "mpi/blocks/send_blocks.hpp"
#include "mpi/temporary.hpp"

namespace neve::mpi {

class FrameFileWriter {
 public:
  enum class Begin { anew, from_existing };

  // Collective. A new file stays under a temporary name until the first sync; an existing one is added to
  // behind its end, and its header changes last: whatever happens before, it is what it was.
  static Result<std::unique_ptr<FrameFileWriter>> open(MPI_Comm comm, const std::string& path, Begin begin);

  // Not collective: encodes the values, and holds the frames until the next collective call writes them.
  Status write(const Transfer& transfer, uint64_t first, const void* values, uint64_t count, Moved& moved);

  // Collective. Rounds of one block a rank: while one is written the next is encoded.
  Status write_all(const Transfer& transfer, uint64_t first, const void* values, uint64_t count,
                   Moved& moved);

  // Collective: all that was written is in the file of the final name, durable. After a write that failed
  // it fails as well, and nothing is published any more.
  Status sync();
  // Collective: sync, and closes.
  Status close();
  // Collective: closes; what was written since the last sync is in no file.
  Status abandon();

  // The file has at least so many values; those no frame holds are 0. The same on all ranks.
  void extend(uint64_t values) { values_ = std::max(values_, values); }

  const Comm& comm() const { return comm_; }
  // What this rank knows: collective writes of all ranks, and its own.
  std::optional<DType> dtype() const { return dtype_; }
  uint64_t values() const { return values_; }

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
  Status settle_type(std::optional<DType> mine);
  Result<uint64_t> place(uint64_t bytes);
  Status put(class Window& window, Bytes frame, FrameFileEntry entry);
  Status flush_held();
  Status write_rounds(const BlockEncoder& encoder, const BlockPlan& plan, uint64_t first, uint64_t rounds,
                      Moved& moved);
  Status collect_written();
  Status write_index();
  Status write_bytes(uint64_t at, ByteSpan bytes);
  Status make_durable();

  Comm comm_;
  std::string path_;
  std::optional<Temporary> temporary_;  // rank 0, until a new file has its name
  bool is_published_ = false;
  MPI_File file_ = MPI_FILE_NULL;
  std::optional<DType> dtype_;
  uint64_t values_ = 0;
  uint64_t published_values_ = 0;           // by the last sync; the same on all ranks
  uint64_t end_ = frame_file_header_bytes;  // where the next frame goes; the same on all ranks
  uint64_t order_ = 0;                      // collective calls so far
  std::vector<Held> held_;
  std::vector<Written> written_;         // since the last sync
  std::vector<FrameFileEntry> entries_;  // rank 0: of all ranks, up to the last sync
  Status failed_;                        // of a write: what the file lacks
};

}  // namespace neve::mpi
