// SPDX-License-Identifier: BSD-3-Clause
// A frame file (format/frame_file.hpp) written by all ranks.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/piece_finder.hpp"
#include "io/files/temporary_file.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/openable_path.hpp"
#include "parallel/transfer/ahead.hpp"
#include "parallel/transfer/file_blocks.hpp"
#include "parallel/transfer/frame_run.hpp"
#include "parallel/transfer/piece_exchange.hpp"
#include "parallel/transfer/rate_call.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

class FrameFileWriter {
 public:
  enum class Begin { anew, from_existing };
  // Whether the file is a line of values of one type, which is then refused any other, or of whatever comes.
  enum class Types { any, one };

  // Collective. A new file stays under a temporary name until the first sync; an existing one, of either
  // layout, is added to behind its end, and its header changes last: whatever happens before, it is what it
  // was.
  // `sites`: what calls under a ratio have learned, the same on all ranks and used by one call at a time;
  // null: what those of this file learn.
  static Result<std::unique_ptr<FrameFileWriter>> open(MPI_Comm comm, std::string_view path, Begin begin,
                                                       Types types = Types::any,
                                                       std::shared_ptr<RateSites> sites = nullptr);

  // A write says where its values go and whether they are of transfer.dtype or raw
  // (transfer/file_blocks.hpp); without boxes it is nothing. Values become frames under transfer.values; raw
  // bytes are kept as they are, smaller where zstd makes them so, and the bound does not concern them.
  // transfer.layer_shape is the shape of a single contiguous line; boxes have their own. Boxes end at
  // max_file_bytes at most.

  // Not collective: encodes the values, and holds the pieces until the next collective call writes them. A
  // rel bound refers to these values; a ratio is kept for them alone.
  Status write(const Transfer& transfer, const FileValues& values, Moved& moved);

  // Collective. Rounds of one piece a rank: while one is written the next is encoded. Ranks may write
  // different types, or raw bytes, at the same time; the bound, and detect_fill, are the same on all of them.
  // A rel bound refers to the values of all ranks of the same type. What single ranks held comes first; of
  // what ranks write here to the same place the higher rank's counts. Under a ratio (RateCall) the values of
  // each type have one absolute bound over all ranks; then `reached` is set to what they came to, the same on
  // all ranks, with the largest of their bounds.
  Status write_all(const Transfer& transfer, const FileValues& values, Moved& moved);
  Status write_all(const Transfer& transfer, const FileValues& values, Moved& moved, Reached& reached);

  // Collective: the size of the logical file, the same on all ranks. What it cuts off is gone, and is 0 if
  // the file grows again.
  Status set_size(uint64_t bytes);

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
  // Not collective: bytes as they would be read from the file, of all ranks up to the last share_index(), and
  // of this rank. As FrameFileReader::read; boxes end at bytes().
  Status read(std::span<const FileBox> boxes, std::byte* out, int threads, Moved& moved);
  Status read(uint64_t at, uint64_t bytes, std::byte* out, int threads, Moved& moved);

  // The logical file has at least so many bytes; those no piece holds are 0. The same on all ranks, before
  // the next collective call.
  void extend(uint64_t bytes) { bytes_ = std::max(bytes_, bytes); }

  const Comm& comm() const { return comm_; }
  // What this rank knows: collective writes of all ranks, and its own. The type of a file of one.
  std::optional<DType> dtype() const { return dtype_; }
  // Of the logical file.
  uint64_t bytes() const { return bytes_; }
  // Of pieces that wait for a collective call.
  uint64_t held_bytes() const { return held_bytes_; }

 private:
  struct Held {
    FramePiece piece;
    Bytes stored;
  };
  // What the ranks write under.
  struct SettledBound {
    Transfer transfer;                  // this rank's, without a ratio
    std::optional<ArrayMeasure> whole;  // of what a relative bound is
    std::vector<MadeFrame> made;        // this rank's
    std::vector<RateCall> rates;        // under a ratio: for each type that is written
    std::optional<size_t> mine;         // of them
    SampledBlocks cut;                  // this rank's, while its values are there
  };

  FrameFileWriter(Comm comm, std::string path, Types types, std::shared_ptr<RateSites> sites)
      : comm_(std::move(comm)), path_(std::move(path)), types_(types), sites_(std::move(sites)) {}

  Status begin_anew();
  Status begin_from_existing();
  Result<FrameFileIndex> read_existing();
  Status open_written();
  Status settle_type(std::optional<DType> mine);
  Result<uint64_t> place(uint64_t bytes);
  Status write_piece(ByteSpan stored, FramePiece piece);
  Status flush_held();
  Status hold(const Transfer& transfer, const FileValues& values, Moved& moved);
  Status write_together(const Transfer& transfer, const FileValues& values, Moved& moved, Reached& reached);
  using WrittenTypes = std::array<uint64_t, 2>;  // 0 or 1 for f32 and f64
  static void prepare_bound(const Transfer& transfer, const FileValues& values,
                            const std::vector<FileBlock>& blocks, int rank, SettledBound& settled);
  static Status settle_bound(const Comm& comm, RateSites& sites, const FileValues& values,
                             const WrittenTypes& types, SettledBound& settled);
  Status settle_alone(const Transfer& transfer, const FileValues& values,
                      const std::vector<FileBlock>& blocks, SettledBound& settled);
  Status end_rates(SettledBound& settled, const Moved& written, Reached& reached);
  static Held make_piece(const Transfer& transfer, const FileValues& values, FileBlock& block, Bytes made);
  static Status make_next(const Transfer& transfer, const FileValues& values, Ahead& ahead, FileBlock& block,
                          Held& next, Moved& moved);
  Status write_rounds(const Transfer& transfer, const FileValues& values, const FileBlockEncoder& encoder,
                      std::vector<FileBlock>& blocks, uint64_t rounds, Moved& moved);
  Status gather_written();
  Status write_index();
  Status make_durable();
  Status agree_on_failure();
  Status settle();
  Status publish();
  Status cut_off(uint64_t bytes);
  std::vector<WantedPiece> pieces_of(std::span<const FileBox> boxes);

  Comm comm_;
  std::string path_;
  Types types_;
  std::shared_ptr<RateSites> sites_;
  // Of writes of this rank alone, under a ratio.
  RateSites own_sites_;
  std::optional<Comm> self_;
  std::string written_path_;  // where the file lies: under a temporary name until it is published
  std::optional<files::TemporaryFile> temporary_;  // rank 0, until a new file has its name
  bool is_published_ = false;
  OpenablePath name_;
  MPI_File file_ = MPI_FILE_NULL;
  std::optional<DType> dtype_;  // of a file of one type
  uint64_t bytes_ = 0;
  uint64_t published_bytes_ = 0;            // by the last sync; the same on all ranks
  uint64_t end_ = frame_file_header_bytes;  // where the next piece goes; the same on all ranks
  uint64_t order_ = 0;                      // collective calls so far
  std::vector<Held> held_;
  uint64_t held_bytes_ = 0;
  std::vector<WrittenPiece> written_;  // since the last sync or share_index
  std::vector<FramePiece> pieces_;     // rank 0: of all ranks, up to the last sync or share_index
  uint64_t shared_pieces_ = 0;         // of them, what every rank has
  uint64_t pieces_after_drop_ = 0;     // when idle ones were last dropped
  std::optional<PieceFinder> finder_;  // of pieces_, since a read asked for one
  bool has_unpublished_ = false;       // among pieces_
  Status failed_;                      // the first failure: what the file lacks
  bool is_failure_agreed_ = false;     // it is the same on all ranks
};

}  // namespace neve::mpi
