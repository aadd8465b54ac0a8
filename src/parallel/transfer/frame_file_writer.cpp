// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/frame_file_writer.hpp"

#include <algorithm>
#include <array>

#include "core/bits/checksum.hpp"
#include "parallel/comm/broadcast.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/turns.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/file/written.hpp"
#include "parallel/transfer/frame_file_reader.hpp"
#include "parallel/transfer/make_of_path.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {
namespace {

constexpr int64_t no_type = 255;
// What idle pieces are dropped from: not worth it before, and then each time there are twice as many.
constexpr uint64_t few_pieces = 64;
constexpr int no_root = -1;  // of calls under a ratio: those of files
// Types that a relative bound, or a ratio, is of.
constexpr std::array<DType, 2> measured_types = {DType::f32, DType::f64};

// For each of measured_types whether this rank writes it.
std::array<uint64_t, measured_types.size()> written_types(const Transfer& transfer, const FileValues& values,
                                                          std::span<const FileBlock> blocks) {
  std::array<uint64_t, measured_types.size()> types = {};
  for (size_t i = 0; i < types.size(); ++i) {
    types[i] = !blocks.empty() && !values.is_raw && transfer.dtype == measured_types[i] ? 1 : 0;
  }
  return types;
}

uint64_t values_of(const FileValues& values) {
  uint64_t count = 0;
  for (const FileBox& box : values.boxes) count += box.values();
  return count;
}

}  // namespace

Result<std::unique_ptr<FrameFileWriter>> FrameFileWriter::open(MPI_Comm comm, std::string_view path,
                                                               Begin begin, Types types,
                                                               std::shared_ptr<RateSites> sites) {
  NEVE_ASSIGN(auto writer, make_of_path<FrameFileWriter>(comm, path, [&](Comm&& own, std::string&& name) {
                if (sites == nullptr) sites = std::make_shared<RateSites>();
                return new FrameFileWriter(std::move(own), std::move(name), types, std::move(sites));
              }));
  NEVE_TRY(begin == Begin::anew ? writer->begin_anew() : writer->begin_from_existing());
  return writer;
}

Status FrameFileWriter::begin_anew() {
  const Status created = guarded("open", [&]() -> Status {
    if (comm_.rank() != 0) return {};
    NEVE_ASSIGN(files::TemporaryFile beside, files::TemporaryFile::beside(path_));
    NEVE_TRY(create_file(beside.path(), {}));
    written_path_ = beside.path();
    temporary_.emplace(std::move(beside));
    return {};
  });
  NEVE_TRY(agree(comm_, created));
  NEVE_TRY(broadcast(comm_, written_path_));
  return open_written();
}

// Where only some ranks could open it, it stays open on those: closing is collective.
Status FrameFileWriter::open_written() {
  NEVE_ASSIGN(const FileTurn turn, take_file_turn(comm_.get()));
  return open_file(comm_, written_path_, MPI_MODE_RDWR, MPI_INFO_NULL, name_, file_);
}

// On rank 0.
Result<FrameFileIndex> FrameFileWriter::read_existing() {
  NEVE_ASSIGN(FrameFileIndex index, read_index(path_, end_));
  if (types_ == Types::any || index.bytes == 0) return index;
  dtype_ = line_dtype(index);
  if (dtype_) return index;
  return usage_error(path_ + " is no line of values of one type; a program under `neve mpi run` adds to it");
}

Status FrameFileWriter::begin_from_existing() {
  FrameFileIndex index;
  std::array<uint64_t, 3> numbers = {};  // type, bytes, end
  NEVE_TRY(agree(comm_, guarded("open", [&]() -> Status {
                   written_path_ = path_;
                   if (comm_.rank() != 0) return {};
                   NEVE_ASSIGN(index, read_existing());
                   numbers = {dtype_ ? static_cast<uint64_t>(*dtype_) : no_type, index.bytes, end_};
                   return {};
                 })));
  NEVE_TRY(mpi_status(MPI_Bcast(numbers.data(), 3, MPI_UINT64_T, 0, comm_.get()), "broadcast of the index"));
  if (numbers[0] != no_type) dtype_ = static_cast<DType>(numbers[0]);
  bytes_ = published_bytes_ = numbers[1];
  end_ = numbers[2];
  pieces_ = std::move(index.pieces);
  is_published_ = true;
  return open_written();
}

// Collective: one type for the file, whichever ranks know of one.
Status FrameFileWriter::settle_type(std::optional<DType> mine) {
  if (types_ == Types::any) return {};
  std::array<int64_t, 2> types = {no_type, no_type};  // the least, and the largest negated
  for (const auto& known : {mine, dtype_}) {
    if (!known) continue;
    types[0] = std::min(types[0], static_cast<int64_t>(*known));
    types[1] = std::min(types[1], -static_cast<int64_t>(*known));
  }
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, types.data(), 2, MPI_INT64_T, MPI_MIN, comm_.get()),
                      "comparison of types"));
  if (types[0] == no_type) return {};
  const auto least = static_cast<DType>(types[0]), most = static_cast<DType>(-types[1]);
  if (least != most) {
    return usage_error(path_ + " would hold values of types " + std::string(dtype_name(least)) + " and " +
                       std::string(dtype_name(most)) + "; a file has one type");
  }
  dtype_ = least;
  return {};
}

// Collective: where this rank's next bytes go, behind those of the ranks before it.
Result<uint64_t> FrameFileWriter::place(uint64_t bytes) {
  uint64_t before = 0, total = 0;
  NEVE_TRY(
      mpi_status(MPI_Exscan(&bytes, &before, 1, MPI_UINT64_T, MPI_SUM, comm_.get()), "placing of frames"));
  NEVE_TRY(
      mpi_status(MPI_Allreduce(&bytes, &total, 1, MPI_UINT64_T, MPI_SUM, comm_.get()), "placing of frames"));
  const uint64_t at = end_ + (comm_.rank() == 0 ? 0 : before);
  end_ += total;
  return at;
}

Status FrameFileWriter::write_piece(ByteSpan stored, FramePiece piece) {
  return guarded("write", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::write, comm_.rank()));
    const uint64_t at = piece.at;
    written_.push_back({order_, std::move(piece)});
    return write_bytes(file_, written_path_, at, stored.data(), stored.size());
  });
}

// Collective. What single ranks wrote comes before what all write next.
Status FrameFileWriter::flush_held() {
  ++order_;
  uint64_t bytes = 0;
  for (const Held& held : held_) bytes += held.stored.size();
  Status status = injected_fault(Phase::place, comm_.rank());
  NEVE_ASSIGN(uint64_t at, place(bytes));
  for (Held& held : held_) {
    held.piece.at = at;
    at += held.stored.size();
    if (status.ok()) status = write_piece(held.stored, std::move(held.piece));
  }
  held_.clear();
  held_bytes_ = 0;
  fail(status);
  return {};
}

Status FrameFileWriter::write(const Transfer& transfer, const FileValues& values, Moved& moved) {
  const Status status = guarded("write", [&] { return hold(transfer, values, moved); });
  fail(status);
  return status;
}

// Of this rank's values alone.
Status FrameFileWriter::settle_alone(const Transfer& transfer, const FileValues& values,
                                     const std::vector<FileBlock>& blocks, SettledBound& settled) {
  prepare_bound(transfer, values, blocks, comm_.rank(), settled);
  if (transfer.values.bound.mode != BoundMode::ratio) {
    const BlockPlan all{values.is_raw ? 0 : values_of(values), 1};
    NEVE_ASSIGN(settled.whole, measure_alone(transfer, all, values.data));
    return {};
  }
  if (!self_) {
    NEVE_ASSIGN(Comm self, Comm::duplicate(MPI_COMM_SELF));
    self_.emplace(std::move(self));
  }
  return settle_bound(*self_, own_sites_, values, written_types(transfer, values, blocks), settled);
}

// Takes the block's place, and what was made for it.
FrameFileWriter::Held FrameFileWriter::make_piece(const Transfer& transfer, const FileValues& values,
                                                  FileBlock& block, Bytes made) {
  FramePiece piece;
  piece.kind = values.is_raw ? PieceKind::raw : PieceKind::frame;
  if (values.is_raw) {
    piece.checksum = checksum(made);
  } else {
    piece.dtype = transfer.dtype;
    const uint64_t stored_bytes = take_head(made, piece).size();
    made.erase(made.begin(), made.end() - static_cast<ptrdiff_t>(stored_bytes));
  }
  piece.bytes = made.size();
  piece.place = std::move(block.place);
  return {std::move(piece), std::move(made)};
}

Status FrameFileWriter::hold(const Transfer& transfer, const FileValues& values, Moved& moved) {
  if (dtype_ && *dtype_ != transfer.dtype) {
    return usage_error(path_ + " holds " + std::string(dtype_name(*dtype_)) + " values, and " +
                       std::string(dtype_name(transfer.dtype)) +
                       " values are to be written; a file has one type");
  }
  NEVE_ASSIGN(std::vector<FileBlock> blocks, cut_into_blocks(transfer, values));
  SettledBound settled;
  NEVE_TRY(settle_alone(transfer, values, blocks, settled));
  FileBlockEncoder encoder(settled.transfer, values, blocks, settled.whole, comm_.rank());
  encoder.keep(std::move(settled.made));
  std::vector<Bytes> pieces;
  pieces.reserve(blocks.size());
  Moved made;
  Ahead ahead(encoder);
  for (size_t block = 0; block < encoder.blocks(); ++block) {
    NEVE_ASSIGN(Bytes stored, ahead.take());
    made.frame_bytes += stored.size();
    ++made.blocks;
    pieces.push_back(std::move(stored));
  }
  Reached reached;
  for (RateCall& rate : settled.rates) NEVE_TRY(rate.end(*self_, {}, made, reached));
  moved.frame_bytes += made.frame_bytes;
  moved.blocks += made.blocks;
  held_.reserve(held_.size() + pieces.size());
  for (size_t block = 0; block < blocks.size(); ++block) {
    held_.push_back(make_piece(transfer, values, blocks[block], std::move(pieces[block])));
    held_bytes_ += held_.back().stored.size();
  }
  if (types_ == Types::one) dtype_ = transfer.dtype;
  if (!values.boxes.empty()) extend(values.boxes.back().end());
  return {};
}

// This rank's next piece of a round, of what was made for the block.
Status FrameFileWriter::make_next(const Transfer& transfer, const FileValues& values, Ahead& ahead,
                                  FileBlock& block, Held& next, Moved& moved) {
  return guarded("write", [&]() -> Status {
    NEVE_ASSIGN(Bytes made, ahead.take());
    moved.frame_bytes += made.size();
    ++moved.blocks;
    if (transfer.tells_errors && !values.is_raw) {
      NEVE_ASSIGN(const double error, largest_error(made));
      moved.max_abs_error = std::max(moved.max_abs_error, error);
    }
    next = make_piece(transfer, values, block, std::move(made));
    return {};
  });
}

Status FrameFileWriter::write_rounds(const Transfer& transfer, const FileValues& values,
                                     const FileBlockEncoder& encoder, std::vector<FileBlock>& blocks,
                                     uint64_t rounds, Moved& moved) {
  std::optional<Ahead> ahead;
  Status status = guarded("write", [&] {
    ahead.emplace(encoder);
    return injected_fault(Phase::place, comm_.rank());
  });
  for (uint64_t round = 0; round < rounds; ++round) {
    Held next;
    const bool has_next = status.ok() && round < blocks.size();
    if (has_next) status = make_next(transfer, values, *ahead, blocks[round], next, moved);
    const bool is_made = has_next && status.ok();
    NEVE_ASSIGN(const uint64_t at, place(is_made ? next.stored.size() : 0));
    if (!is_made) continue;
    next.piece.at = at;
    status = write_piece(next.stored, std::move(next.piece));
  }
  return status;
}

Status FrameFileWriter::write_all(const Transfer& transfer, const FileValues& values, Moved& moved) {
  Reached reached;
  return write_all(transfer, values, moved, reached);
}

Status FrameFileWriter::write_all(const Transfer& transfer, const FileValues& values, Moved& moved,
                                  Reached& reached) {
  const Status status = write_together(transfer, values, moved, reached);
  fail_everywhere(status);
  return status;
}

// All the memory that settle_bound needs: between its messages there is none to be asked for. What is given
// must outlive `settled`.
void FrameFileWriter::prepare_bound(const Transfer& transfer, const FileValues& values,
                                    const std::vector<FileBlock>& blocks, int rank, SettledBound& settled) {
  settled.transfer = transfer;
  settled.transfer.layer_shape.clear();  // blocks have their shapes
  settled.rates.reserve(measured_types.size());
  settled.cut = {blocks.size(),
                 [&transfer, &blocks](size_t block) {
                   return blocks[block].place.bytes() / dtype_bytes(transfer.dtype);
                 },
                 [&values, &blocks, rank](const Transfer& under, const ArrayMeasure& whole, size_t block) {
                   return FileBlockEncoder(under, values, blocks, whole, rank).encode(block);
                 }};
}

// Collective over `comm`: what its ranks write under. `types` that any of them writes.
Status FrameFileWriter::settle_bound(const Comm& comm, RateSites& sites, const FileValues& values,
                                     const WrittenTypes& types, SettledBound& settled) {
  Transfer of_type = settled.transfer;
  const DType own_type = of_type.dtype;
  for (size_t i = 0; i < measured_types.size(); ++i) {
    if (types[i] == 0) continue;
    const bool is_mine = !values.is_raw && own_type == measured_types[i];
    of_type.dtype = measured_types[i];
    const BlockPlan all{is_mine ? values_of(values) : 0, 1};
    if (of_type.values.bound.mode != BoundMode::ratio) {
      NEVE_ASSIGN(const auto whole, measure_together(comm, of_type, all, values.data));
      if (is_mine) settled.whole = whole;
      continue;
    }
    NEVE_ASSIGN(RateCall rate,
                RateCall::begin(comm, sites, of_type, no_root, all, values.data, is_mine, &settled.cut));
    if (is_mine) {
      settled.transfer = rate.transfer();
      settled.whole = rate.whole();
      settled.made = rate.take_made();
      settled.mine = settled.rates.size();
    }
    settled.rates.push_back(std::move(rate));
  }
  return {};
}

// Collective: the ranks agree, and learn from what was written.
Status FrameFileWriter::end_rates(SettledBound& settled, const Moved& written, Reached& reached) {
  reached = {};
  for (size_t i = 0; i < settled.rates.size(); ++i) {
    Reached of_type;
    const Moved sent = settled.mine == i ? written : Moved();
    fail_everywhere(settled.rates[i].end(comm_, failed_, sent, of_type));
    reached.value_bytes += of_type.value_bytes;
    reached.moved_bytes += of_type.moved_bytes;
    reached.bound = std::max(reached.bound, of_type.bound);
    reached.max_abs_error = std::max(reached.max_abs_error, of_type.max_abs_error);
  }
  return agree_on_failure();
}

Status FrameFileWriter::write_together(const Transfer& transfer, const FileValues& values, Moved& moved,
                                       Reached& reached) {
  std::vector<FileBlock> blocks;
  SettledBound settled;
  fail(guarded("plan", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::plan, comm_.rank()));
    NEVE_TRY(injected_fault(Phase::range, comm_.rank()));
    NEVE_ASSIGN(blocks, cut_into_blocks(transfer, values));
    prepare_bound(transfer, values, blocks, comm_.rank(), settled);
    return {};
  }));
  NEVE_TRY(agree_on_failure());
  NEVE_TRY(settle_type(transfer.dtype));
  NEVE_TRY(flush_held());
  const WrittenTypes types = written_types(transfer, values, blocks);
  std::array<uint64_t, 4> most = {blocks.size(), values.boxes.empty() ? 0 : values.boxes.back().end(),
                                  types[0], types[1]};
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_UINT64_T,
                                    MPI_MAX, comm_.get()),
                      "exchange of block counts"));
  NEVE_TRY(settle_bound(comm_, *sites_, values, {most[2], most[3]}, settled));
  std::optional<FileBlockEncoder> encoder;
  fail(guarded("write", [&]() -> Status {
    encoder.emplace(settled.transfer, values, blocks, settled.whole, comm_.rank());
    encoder->keep(std::move(settled.made));
    return {};
  }));
  NEVE_TRY(agree_on_failure());
  ++order_;
  Moved written;
  fail(write_rounds(settled.transfer, values, *encoder, blocks, most[0], written));
  moved.frame_bytes += written.frame_bytes;
  moved.blocks += written.blocks;
  moved.max_abs_error = std::max(moved.max_abs_error, written.max_abs_error);
  NEVE_TRY(end_rates(settled, written, reached));
  extend(most[1]);
  return {};
}

Status FrameFileWriter::make_durable() {
  NEVE_ASSIGN(const FileTurn turn, take_file_turn(comm_.get()));
  const Status injected = injected_fault(Phase::sync, comm_.rank());
  const Status synced = mpi_status(MPI_File_sync(file_), path_, "syncing");
  return agree(comm_, injected.ok() ? synced : injected);
}

// The index behind everything else, then, when all of that is on the device, the header that leads to it.
Status FrameFileWriter::write_index() {
  Bytes header;
  uint64_t next_end = 0;
  const Status listed = guarded("index", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::skeleton, comm_.rank()));
    if (comm_.rank() != 0) return {};
    FrameFileIndex index{bytes_, pieces_};
    drop_idle(index.pieces, bytes_);
    const Bytes bytes = index_bytes(index);
    header = header_bytes(index, end_, bytes);
    if (shared_pieces_ == 0) pieces_ = std::move(index.pieces);
    next_end = end_ + bytes.size();
    return write_bytes(file_, written_path_, end_, bytes.data(), bytes.size());
  });
  NEVE_TRY(agree(comm_, listed));
  NEVE_TRY(mpi_status(MPI_Bcast(&next_end, 1, MPI_UINT64_T, 0, comm_.get()), "broadcast of the file's end"));
  end_ = next_end;
  NEVE_TRY(make_durable());
  NEVE_TRY(agree(comm_, guarded("index", [&] {
                   if (comm_.rank() != 0) return Status();
                   return write_bytes(file_, written_path_, 0, header.data(), header.size());
                 })));
  return make_durable();
}

// Collective. What is written is in the file; all ranks know the size, and that all of it is well.
Status FrameFileWriter::settle() {
  NEVE_TRY(settle_type({}));
  NEVE_TRY(flush_held());
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &bytes_, 1, MPI_UINT64_T, MPI_MAX, comm_.get()),
                      "exchange of sizes"));
  return agree_on_failure();
}

Status FrameFileWriter::agree_on_failure() {
  if (!is_failure_agreed_) fail_everywhere(agree(comm_, failed_));
  return failed_;
}

Status FrameFileWriter::sync() {
  if (const Status settled = settle(); !settled.ok()) {
    fail_everywhere(settled);
    return settled.in(path_ + " is not written, because a write failed");
  }
  const Status published = publish();
  fail_everywhere(published);
  return published;
}

Status FrameFileWriter::publish() {
  uint64_t fresh = written_.size() + (bytes_ != published_bytes_ ? 1 : 0) + (has_unpublished_ ? 1 : 0);
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &fresh, 1, MPI_UINT64_T, MPI_MAX, comm_.get()),
                      "exchange of sizes"));
  if (fresh == 0 && is_published_) return {};
  NEVE_TRY(gather_written());
  NEVE_TRY(write_index());
  published_bytes_ = bytes_;
  has_unpublished_ = false;
  if (is_published_) return {};
  NEVE_TRY(agree(comm_, injected_fault(Phase::rename, comm_.rank())));
  const Status renamed =
      guarded("rename", [&] { return comm_.rank() == 0 ? temporary_->commit() : Status(); });
  NEVE_TRY(agree(comm_, renamed));
  is_published_ = true;
  written_path_ = path_;
  return {};
}

// Collective: rank 0 learns what the others have written.
Status FrameFileWriter::gather_written() {
  finder_.reset();
  NEVE_TRY(gather_pieces(comm_, written_, pieces_));
  written_.clear();
  return {};
}

Status FrameFileWriter::share_index() {
  NEVE_TRY(settle());
  NEVE_TRY(gather_written());
  has_unpublished_ = true;
  NEVE_TRY(broadcast_pieces(comm_, pieces_, shared_pieces_));
  if (pieces_.size() >= few_pieces + 2 * pieces_after_drop_) {
    NEVE_TRY(agree(comm_, guarded("index", [&]() -> Status {
                     drop_idle(pieces_, bytes_);
                     return {};
                   })));
    pieces_after_drop_ = pieces_.size();
  }
  shared_pieces_ = pieces_.size();
  return {};
}

Status FrameFileWriter::set_size(uint64_t bytes) {
  const Status status = [&]() -> Status {
    fail(bytes <= max_file_bytes ? Status()
                                 : usage_error(path_ + " would have " + std::to_string(bytes) +
                                               " bytes; at most 2^62 are allowed"));
    NEVE_TRY(settle());
    return bytes < bytes_ ? cut_off(bytes) : Status();
  }();
  fail_everywhere(status);
  if (status.ok()) bytes_ = bytes;
  return status;
}

// Collective: zeros over what lies behind, which would be there again if the file grew. Each rank's own copy
// is for its reads; the index keeps one.
Status FrameFileWriter::cut_off(uint64_t bytes) {
  ++order_;
  fail(guarded("size", [&]() -> Status {
    FramePiece zeros;
    zeros.kind = PieceKind::zeros;
    zeros.place = FilePlace(line_box(bytes, 1, bytes_ - bytes));
    written_.push_back({order_, std::move(zeros)});
    return {};
  }));
  return agree_on_failure();
}

// As far as this rank knows of them, in the order in which they count.
std::vector<WantedPiece> FrameFileWriter::pieces_of(std::span<const FileBox> boxes) {
  if (!finder_) finder_.emplace(pieces_);
  std::vector<WantedPiece> wanted;
  for (const size_t i : finder_->find(pieces_, boxes)) wanted.push_back({&pieces_[i], nullptr});
  for (const WrittenPiece& written : written_) {
    if (holds_any(written.piece, boxes)) wanted.push_back({&written.piece, nullptr});
  }
  for (const Held& held : held_) {
    if (holds_any(held.piece, boxes)) wanted.push_back({&held.piece, &held.stored});
  }
  return wanted;
}

Status FrameFileWriter::read(std::span<const FileBox> boxes, std::byte* out, int threads, Moved& moved) {
  return guarded("read", [&]() -> Status {
    NEVE_TRY(check_asked(path_, boxes, bytes_));
    NEVE_ASSIGN(const auto file, plotfile::File::open(written_path_));
    return read_in_order(boxes, out, [&](std::span<const FileBox> asked, std::byte* place) {
      return read_pieces(*file, pieces_of(asked), asked, place, threads, moved);
    });
  });
}

Status FrameFileWriter::read(uint64_t at, uint64_t bytes, std::byte* out, int threads, Moved& moved) {
  if (bytes == 0) return {};
  const FileBox line = line_box(at, 1, bytes);
  return read({&line, 1}, out, threads, moved);
}

Status FrameFileWriter::close() {
  const Status synced = guarded("close", [&] { return sync(); });
  const Status closed = abandon();
  return synced.ok() ? closed : synced;
}

Status FrameFileWriter::abandon() {
  NEVE_ASSIGN(const FileTurn turn, take_file_turn(comm_.get()));
  return agree(comm_, mpi_status(MPI_File_close(&file_), path_, "closing"));
}

}  // namespace neve::mpi
