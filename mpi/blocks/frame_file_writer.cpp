// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/blocks/frame_file_writer.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "mpi/blocks/frame_file_reader.hpp"
#include "mpi/blocks/window.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/fault.hpp"
#include "mpi/put.hpp"

namespace neve::mpi {
namespace {

constexpr int64_t no_type = 255;

}  // namespace

Result<std::unique_ptr<FrameFileWriter>> FrameFileWriter::open(MPI_Comm comm, const std::string& path,
                                                               Begin begin) {
  NEVE_ASSIGN(Comm all, Comm::duplicate(comm));
  std::unique_ptr<FrameFileWriter> writer(new FrameFileWriter(std::move(all), path));
  NEVE_TRY(begin == Begin::anew ? writer->begin_anew() : writer->begin_from_existing());
  return writer;
}

Status FrameFileWriter::begin_anew() {
  std::string temporary_path;
  const Status created = guarded("open", [&]() -> Status {
    if (comm_.rank() != 0) return {};
    NEVE_ASSIGN(Temporary beside, Temporary::beside(path_, Temporary::Kind::file));
    NEVE_TRY(create_file(beside.path(), {}));
    temporary_path = beside.path();
    temporary_.emplace(std::move(beside));
    return {};
  });
  NEVE_TRY(agree(comm_, created));
  NEVE_TRY(broadcast(comm_, temporary_path));
  // Where only some ranks could open it, it stays open on those: closing is collective.
  return agree(comm_, mpi_status(MPI_File_open(comm_.get(), temporary_path.c_str(), MPI_MODE_RDWR,
                                               MPI_INFO_NULL, &file_),
                                 path_ + ": opening for the write"));
}

Status FrameFileWriter::begin_from_existing() {
  FrameFileIndex index;
  std::array<uint64_t, 3> numbers = {};  // type, values, end
  NEVE_TRY(agree(comm_, guarded("open", [&]() -> Status {
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
  return agree(comm_,
               mpi_status(MPI_File_open(comm_.get(), path_.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file_),
                          path_ + ": opening for the write"));
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

Status FrameFileWriter::put(Window& window, Bytes frame, FrameFileEntry entry) {
  entry.bytes = frame.size();
  written_.push_back({order_, entry});
  return window.begin(std::move(frame), [&](const std::byte* data, int bytes, MPI_Request* request) {
    return MPI_File_iwrite_at(file_, static_cast<MPI_Offset>(entry.at), data, bytes, MPI_BYTE, request);
  });
}

// Collective. What single ranks wrote comes before what all write next.
Status FrameFileWriter::flush_held() {
  ++order_;
  uint64_t bytes = 0;
  for (const Held& held : held_) bytes += held.frame.size();
  NEVE_ASSIGN(uint64_t at, place(bytes));
  Window window(path_, true);
  const Status status = guarded("put", [&]() -> Status {
    for (Held& held : held_) {
      held.entry.at = at;
      at += held.frame.size();
      NEVE_TRY(put(window, std::move(held.frame), held.entry));
    }
    return {};
  });
  const Status waited = window.wait();
  held_.clear();
  if (failed_.ok()) failed_ = status.ok() ? waited : status;
  return {};
}

Status FrameFileWriter::write(const Transfer& transfer, uint64_t first, const void* values, uint64_t count,
                              Moved& moved) {
  if (dtype_ && *dtype_ != transfer.dtype) {
    return usage_error(path_ + " holds " + std::string(dtype_name(*dtype_)) + " values, and " +
                       std::string(dtype_name(transfer.dtype)) +
                       " values are to be written; a file has one type");
  }
  NEVE_ASSIGN(const BlockPlan plan,
              plan_blocks(count, dtype_bytes(transfer.dtype), transfer.block_bytes, transfer.layer_shape));
  const BlockEncoder encoder(transfer, plan, values, measure_alone(transfer, plan, values), comm_.rank());
  const size_t held_before = held_.size();
  const Status status = guarded("encode", [&]() -> Status {
    Ahead ahead(encoder);
    for (size_t block = 0; block < plan.blocks(); ++block) {
      NEVE_ASSIGN(Bytes frame, ahead.take());
      moved.frame_bytes += frame.size();
      ++moved.blocks;
      held_.push_back({{first + plan.first(block), plan.values(block), 0, 0}, std::move(frame)});
    }
    return {};
  });
  if (!status.ok()) {
    held_.resize(held_before);
    failed_ = status;
    return status;
  }
  dtype_ = transfer.dtype;
  if (count > 0) extend(first + count);
  return {};
}

Status FrameFileWriter::write_rounds(const BlockEncoder& encoder, const BlockPlan& plan, uint64_t first,
                                     uint64_t rounds, Moved& moved) {
  Window window(path_, true);
  Ahead ahead(encoder);
  Status status;
  for (uint64_t round = 0; round < rounds; ++round) {
    const bool has_block = status.ok() && round < plan.blocks();
    Result<Bytes> frame = Bytes();
    if (has_block) {
      status = window.next_frame(ahead, frame);
      if (status.ok()) status = frame.status();
      if (!status.ok()) frame = Bytes();
    }
    NEVE_ASSIGN(const uint64_t at, place(frame->size()));
    if (!status.ok() || !has_block) continue;
    moved.frame_bytes += frame->size();
    ++moved.blocks;
    status = guarded("put", [&] {
      const auto block = static_cast<size_t>(round);
      return put(window, std::move(*frame), {first + plan.first(block), plan.values(block), at, 0});
    });
  }
  const Status waited = window.wait();
  return status.ok() ? waited : status;
}

Status FrameFileWriter::write_all(const Transfer& transfer, uint64_t first, const void* values,
                                  uint64_t count, Moved& moved) {
  NEVE_ASSIGN(const BlockPlan plan,
              plan_blocks(count, dtype_bytes(transfer.dtype), transfer.block_bytes, transfer.layer_shape));
  NEVE_TRY(settle_type(transfer.dtype));
  NEVE_TRY(flush_held());
  NEVE_ASSIGN(const auto whole, measure_together(comm_, transfer, plan, values));
  std::array<uint64_t, 2> most = {plan.blocks(), count > 0 ? first + count : 0};
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_UINT64_T, MPI_MAX, comm_.get()),
                      "exchange of block counts"));
  ++order_;
  const Status written =
      write_rounds(BlockEncoder(transfer, plan, values, whole, comm_.rank()), plan, first, most[0], moved);
  if (failed_.ok()) failed_ = written;
  const Status agreed = agree(comm_, failed_);
  if (!agreed.ok()) {
    failed_ = agreed;
    return agreed;
  }
  extend(most[1]);
  return {};
}

// Collective: rank 0 learns what the others have written, in the order of the calls and within a call of the
// ranks.
Status FrameFileWriter::collect_written() {
  static_assert(sizeof(Written) == 5 * sizeof(uint64_t));
  const int mine = static_cast<int>(written_.size());
  std::vector<int> counts(comm_.rank() == 0 ? static_cast<size_t>(comm_.size()) : 0), displs = counts;
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

Status FrameFileWriter::write_bytes(uint64_t at, ByteSpan bytes) {
  Window window(path_, true);
  constexpr size_t most = size_t{1} << 28;
  for (size_t done = 0; done < bytes.size(); done += most) {
    const ByteSpan part = bytes.subspan(done, std::min(most, bytes.size() - done));
    NEVE_TRY(window.begin(Bytes(part.begin(), part.end()), [&](const std::byte* data, int count,
                                                               MPI_Request* request) {
      return MPI_File_iwrite_at(file_, static_cast<MPI_Offset>(at + done), data, count, MPI_BYTE, request);
    }));
  }
  return window.wait();
}

Status FrameFileWriter::make_durable() {
  const Status injected = injected_fault(Phase::sync, comm_.rank());
  const Status synced = mpi_status(MPI_File_sync(file_), path_ + ": syncing");
  return agree(comm_, injected.ok() ? synced : injected);
}

// The index behind everything else, then, when all of that is on the device, the header that leads to it.
Status FrameFileWriter::write_index() {
  Bytes header;
  uint64_t next_end = 0;
  NEVE_TRY(agree(comm_, guarded("index", [&]() -> Status {
                   if (comm_.rank() != 0) return {};
                   const FrameFileIndex index{dtype_.value_or(DType::f32), values_, entries_};
                   const Bytes bytes = index_bytes(index);
                   header = header_bytes(index, end_, bytes);
                   next_end = end_ + bytes.size();
                   return write_bytes(end_, bytes);
                 })));
  NEVE_TRY(mpi_status(MPI_Bcast(&next_end, 1, MPI_UINT64_T, 0, comm_.get()), "broadcast of the file's end"));
  end_ = next_end;
  NEVE_TRY(make_durable());
  NEVE_TRY(
      agree(comm_, guarded("index", [&] { return comm_.rank() == 0 ? write_bytes(0, header) : Status(); })));
  return make_durable();
}

Status FrameFileWriter::sync() {
  NEVE_TRY(settle_type({}));
  NEVE_TRY(flush_held());
  std::array<uint64_t, 2> now = {values_, written_.size()};
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, now.data(), 2, MPI_UINT64_T, MPI_MAX, comm_.get()),
                      "exchange of sizes"));
  const bool is_longer = now[0] > published_values_;
  values_ = now[0];
  if (const Status agreed = agree(comm_, failed_); !agreed.ok()) {
    failed_ = agreed;
    return agreed.in(path_ + " is not written, because a write failed");
  }
  if (now[1] == 0 && !is_longer && is_published_) return {};
  NEVE_TRY(collect_written());
  NEVE_TRY(write_index());
  published_values_ = values_;
  if (is_published_) return {};
  const Status renamed = guarded("rename", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::rename, comm_.rank()));
    return comm_.rank() == 0 ? temporary_->commit() : Status();
  });
  NEVE_TRY(agree(comm_, renamed));
  is_published_ = true;
  return {};
}

Status FrameFileWriter::close() {
  const Status synced = guarded("close", [&] { return sync(); });
  const Status closed = abandon();
  return synced.ok() ? closed : synced;
}

Status FrameFileWriter::abandon() {
  return agree(comm_, mpi_status(MPI_File_close(&file_), path_ + ": closing"));
}

}  // namespace neve::mpi
