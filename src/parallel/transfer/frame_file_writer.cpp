// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/frame_file_writer.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "parallel/comm/broadcast.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/turns.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/file/written.hpp"
#include "parallel/transfer/ahead.hpp"
#include "parallel/transfer/frame_file_reader.hpp"
#include "parallel/transfer/frame_run.hpp"
#include "parallel/transfer/make_of_path.hpp"

namespace neve::mpi {
namespace {

constexpr int64_t no_type = 255;

}  // namespace

Result<std::unique_ptr<FrameFileWriter>> FrameFileWriter::open(MPI_Comm comm, std::string_view path,
                                                               Begin begin) {
  NEVE_ASSIGN(auto writer, make_of_path<FrameFileWriter>(comm, path, [](Comm&& own, std::string&& name) {
                return new FrameFileWriter(std::move(own), std::move(name));
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

Status FrameFileWriter::begin_from_existing() {
  FrameFileIndex index;
  std::array<uint64_t, 3> numbers = {};  // type, values, end
  NEVE_TRY(agree(comm_, guarded("open", [&]() -> Status {
                   written_path_ = path_;
                   if (comm_.rank() != 0) return {};
                   uint64_t file_bytes = 0;
                   NEVE_ASSIGN(index, read_index(path_, file_bytes));
                   numbers = {static_cast<uint64_t>(index.dtype), index.values, file_bytes};
                   return {};
                 })));
  NEVE_TRY(mpi_status(MPI_Bcast(numbers.data(), 3, MPI_UINT64_T, 0, comm_.get()), "broadcast of the index"));
  dtype_ = static_cast<DType>(numbers[0]);
  values_ = published_values_ = numbers[1];
  end_ = numbers[2];
  entries_ = std::move(index.entries);
  is_published_ = true;
  return open_written();
}

// Collective: one type for the file, whichever ranks know of one.
Status FrameFileWriter::settle_type(std::optional<DType> mine) {
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

Status FrameFileWriter::write_frame(ByteSpan frame, FrameFileEntry entry) {
  return guarded("write", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::write, comm_.rank()));
    entry.bytes = frame.size();
    written_.push_back({order_, entry});
    return write_bytes(file_, written_path_, entry.at, frame.data(), frame.size());
  });
}

// Collective. What single ranks wrote comes before what all write next.
Status FrameFileWriter::flush_held() {
  ++order_;
  uint64_t bytes = 0;
  for (const Held& held : held_) bytes += held.frame.size();
  Status status = injected_fault(Phase::place, comm_.rank());
  NEVE_ASSIGN(uint64_t at, place(bytes));
  for (Held& held : held_) {
    held.entry.at = at;
    at += held.frame.size();
    if (status.ok()) status = write_frame(held.frame, held.entry);
  }
  held_.clear();
  held_bytes_ = 0;
  fail(status);
  return {};
}

Status FrameFileWriter::write(const Transfer& transfer, uint64_t first, const void* values, uint64_t count,
                              Moved& moved) {
  const Status status = guarded("write", [&] { return hold(transfer, first, values, count, moved); });
  fail(status);
  return status;
}

Status FrameFileWriter::hold(const Transfer& transfer, uint64_t first, const void* values, uint64_t count,
                             Moved& moved) {
  if (dtype_ && *dtype_ != transfer.dtype) {
    return usage_error(path_ + " holds " + std::string(dtype_name(*dtype_)) + " values, and " +
                       std::string(dtype_name(transfer.dtype)) +
                       " values are to be written; a file has one type");
  }
  NEVE_ASSIGN(const BlockPlan plan,
              plan_blocks(count, dtype_bytes(transfer.dtype), transfer.block_bytes, transfer.layer_shape));
  NEVE_ASSIGN(const auto whole, measure_alone(transfer, plan, values));
  const BlockEncoder encoder(transfer, plan, values, whole, comm_.rank());
  std::vector<Held> frames;
  Ahead ahead(encoder);
  for (size_t block = 0; block < plan.blocks(); ++block) {
    NEVE_ASSIGN(Bytes frame, ahead.take());
    moved.frame_bytes += frame.size();
    ++moved.blocks;
    frames.push_back({{first + plan.first(block), plan.values(block), 0, 0}, std::move(frame)});
  }
  held_.reserve(held_.size() + frames.size());
  for (Held& held : frames) {
    held_bytes_ += held.frame.size();
    held_.push_back(std::move(held));
  }
  dtype_ = transfer.dtype;
  if (count > 0) extend(first + count);
  return {};
}

Status FrameFileWriter::write_rounds(const BlockEncoder& encoder, const BlockPlan& plan, uint64_t first,
                                     uint64_t rounds, Moved& moved) {
  std::optional<Ahead> ahead;
  Status status = guarded("write", [&] {
    ahead.emplace(encoder);
    return injected_fault(Phase::place, comm_.rank());
  });
  for (uint64_t round = 0; round < rounds; ++round) {
    Result<Bytes> frame = Bytes();
    if (status.ok() && round < plan.blocks()) {
      status = guarded("write", [&] {
        frame = ahead->take();
        return frame.status();
      });
    }
    NEVE_ASSIGN(const uint64_t at, place(frame.ok() ? frame->size() : 0));
    if (!status.ok() || round >= plan.blocks()) continue;
    moved.frame_bytes += frame->size();
    ++moved.blocks;
    const auto block = static_cast<size_t>(round);
    status = write_frame(*frame, {first + plan.first(block), plan.values(block), at, 0});
  }
  return status;
}

Status FrameFileWriter::write_all(const Transfer& transfer, uint64_t first, const void* values,
                                  uint64_t count, Moved& moved) {
  const Status status = write_together(transfer, first, values, count, moved);
  fail_everywhere(status);
  return status;
}

Status FrameFileWriter::write_together(const Transfer& transfer, uint64_t first, const void* values,
                                       uint64_t count, Moved& moved) {
  BlockPlan plan;
  fail(guarded("plan", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::plan, comm_.rank()));
    NEVE_TRY(injected_fault(Phase::range, comm_.rank()));
    NEVE_ASSIGN(plan,
                plan_blocks(count, dtype_bytes(transfer.dtype), transfer.block_bytes, transfer.layer_shape));
    return {};
  }));
  NEVE_TRY(agree_on_failure());
  NEVE_TRY(settle_type(transfer.dtype));
  NEVE_TRY(flush_held());
  NEVE_ASSIGN(const auto whole, measure_together(comm_, transfer, plan, values));
  std::optional<BlockEncoder> encoder;
  fail(guarded("write", [&]() -> Status {
    encoder.emplace(transfer, plan, values, whole, comm_.rank());
    return {};
  }));
  NEVE_TRY(agree_on_failure());
  std::array<uint64_t, 2> most = {plan.blocks(), count > 0 ? first + count : 0};
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_UINT64_T, MPI_MAX, comm_.get()),
                      "exchange of block counts"));
  ++order_;
  fail(write_rounds(*encoder, plan, first, most[0], moved));
  NEVE_TRY(agree_on_failure());
  extend(most[1]);
  return {};
}

// Collective: rank 0 learns what the others have written, in the order of the calls and within a call of the
// ranks.
Status FrameFileWriter::collect_written() {
  static_assert(sizeof(Written) == 5 * sizeof(uint64_t));
  const int mine = static_cast<int>(written_.size());
  std::vector<int> counts, displs;
  NEVE_TRY(guarded_alike(comm_, "index", [&]() -> Status {
    if (comm_.rank() == 0) counts.resize(static_cast<size_t>(comm_.size()));
    displs = counts;
    return {};
  }));
  NEVE_TRY(mpi_status(MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm_.get()),
                      "exchange of frame counts"));
  std::vector<Written> all;
  NEVE_TRY(agree(comm_, guarded("index", [&]() -> Status {
                   int64_t total = 0;
                   for (size_t r = 0; r < counts.size(); ++r) {
                     displs[r] = static_cast<int>(total);
                     total += counts[r];
                     if (total > std::numeric_limits<int>::max()) {
                       return failure(path_ + ": more frames than an MPI count holds; use larger blocks");
                     }
                   }
                   all.resize(static_cast<size_t>(total));
                   entries_.reserve(entries_.size() + all.size());
                   return {};
                 })));
  MPI_Datatype record = MPI_DATATYPE_NULL;
  NEVE_TRY(mpi_status(MPI_Type_contiguous(5, MPI_UINT64_T, &record), "MPI_Type_contiguous"));
  NEVE_TRY(mpi_status(MPI_Type_commit(&record), "MPI_Type_commit"));
  const Status gathered = mpi_status(MPI_Gatherv(written_.data(), mine, record, all.data(), counts.data(),
                                                 displs.data(), record, 0, comm_.get()),
                                     "exchange of the index");
  MPI_Type_free(&record);
  NEVE_TRY(gathered);
  std::stable_sort(all.begin(), all.end(),
                   [](const Written& a, const Written& b) { return a.order < b.order; });
  for (const Written& written : all) entries_.push_back(written.entry);
  written_.clear();
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
    const FrameFileIndex index{dtype_.value_or(DType::f32), values_, entries_};
    const Bytes bytes = index_bytes(index);
    header = header_bytes(index, end_, bytes);
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

// Collective. What is written is in the file; all ranks know how many values that are, and that all of it is
// well.
Status FrameFileWriter::settle() {
  NEVE_TRY(settle_type({}));
  NEVE_TRY(flush_held());
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &values_, 1, MPI_UINT64_T, MPI_MAX, comm_.get()),
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
  uint64_t fresh = written_.size() + (values_ > published_values_ ? 1 : 0) + (has_unpublished_ ? 1 : 0);
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &fresh, 1, MPI_UINT64_T, MPI_MAX, comm_.get()),
                      "exchange of sizes"));
  if (fresh == 0 && is_published_) return {};
  NEVE_TRY(collect_written());
  NEVE_TRY(write_index());
  published_values_ = values_;
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

Status FrameFileWriter::share_index() {
  NEVE_TRY(settle());
  NEVE_TRY(collect_written());
  has_unpublished_ = true;
  uint64_t total = entries_.size();
  NEVE_TRY(mpi_status(MPI_Bcast(&total, 1, MPI_UINT64_T, 0, comm_.get()), "broadcast of the index"));
  NEVE_TRY(agree(comm_, guarded("index", [&]() -> Status {
                   entries_.resize(total);
                   return {};
                 })));
  NEVE_TRY(broadcast_entries(comm_, std::span(entries_).subspan(shared_entries_)));
  shared_entries_ = total;
  return {};
}

Status FrameFileWriter::read(uint64_t first, uint64_t count, std::byte* out, int threads,
                             Moved& moved) const {
  return guarded("read", [&]() -> Status {
    FrameFileIndex index{dtype_.value_or(DType::f32), values_, entries_};
    for (const Written& written : written_) index.entries.push_back(written.entry);
    NEVE_ASSIGN(const auto file, plotfile::File::open(written_path_));
    NEVE_TRY(read_frames(*file, index, {first, count}, out, threads, moved));
    for (const Held& held : held_) {
      const uint64_t end = held.entry.first + held.entry.values;
      if (end <= first || held.entry.first >= first + count) continue;
      NEVE_TRY(put_values(held.entry, held.frame, index.dtype, {first, count}, out, threads));
    }
    return {};
  });
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
