// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes.
#include <utility>

#include "parallel/transfer/mpi_type.hpp"
#include "preload/mpi/agreement.hpp"
#include "preload/mpi/done_request.hpp"
#include "preload/mpi/file_ratios.hpp"
#include "preload/mpi/native_calls.hpp"
#include "preload/mpi/packed.hpp"
#include "preload/mpi/settings.hpp"
#include "preload/mpi/with_file.hpp"

namespace neve::pmpi {
namespace {

FileCounts counts;

// Of pieces of single ranks' writes, until a collective call takes them.
constexpr uint64_t max_held_bytes = uint64_t{256} << 20;

// Arguments that are beyond doubt; all others are MPI's to judge.
bool is_sound(const OpenFile& file, const Access& access) {
  if (access.count < 0 || access.type == MPI_DATATYPE_NULL) return false;
  if (!access.is_write && !file.reads()) return false;
  if (access.pointer == Pointer::given && access.offset < 0) return false;
  const bool is_shared = access.pointer == Pointer::shared || access.pointer == Pointer::ordered;
  if ((file.mode & MPI_MODE_SEQUENTIAL) != 0 && !is_shared) return false;
  if (access.is_nonblocking && access.request == nullptr) return false;
  if (access.is_split && file.split_bytes) return false;
  MPI_Count bytes = 0;
  if (MPI_Type_size_x(access.type, &bytes) != MPI_SUCCESS || bytes < 0) return false;
  // MPI_BOTTOM goes with types that bring their addresses.
  return access.data != nullptr || access.count == 0 || !mpi::dtype_of(access.type);
}

Elements elements_in(const Access& access) { return {access.data, access.count, access.type}; }

void set_status(MPI_Status* status, uint64_t bytes) {
  if (status == MPI_STATUS_IGNORE || status == nullptr) return;
  MPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  MPI_Status_set_cancelled(status, 0);
}

// After a call that has been served. The pointer moves by what was asked for, also where a read met the end
// of the file (MPI 4.1, 14.4.1).
Outcome finish(OpenFile& file, const Access& access, uint64_t bytes) {
  if (access.pointer == Pointer::own) file.position += asked_bytes(access);
  if (access.is_split) {
    file.split_bytes = bytes;
  } else if (access.is_nonblocking) {
    return native(make_done_request(bytes, access.request));
  } else {
    set_status(access.status, bytes);
  }
  return {};
}

Outcome finish_natively(OpenFile& file, const Access& access, uint64_t at) {
  uint64_t bytes = 0;
  const int code = access_natively(file, access, at, bytes);
  return code == MPI_SUCCESS ? finish(file, access, bytes) : native(code);
}

void count_write(uint64_t bytes, const mpi::Moved& moved) {
  ++counts.writes;
  counts.value_bytes += bytes;
  counts.frame_bytes += moved.frame_bytes;
}

// Collective, of a file whose frames the ranks have agreed on.
Outcome write_frames(OpenFile& file, const Access& access, const WritePlan& plan) {
  Bytes room;
  ByteSpan data;
  file.writer->fail(mpi::guarded("write", [&]() -> Status {
    NEVE_ASSIGN(data, packed(elements_in(access), room));
    return {};
  }));
  mpi::Moved moved;
  mpi::Reached reached;
  const double began = MPI_Wtime();
  Status status = file.writer->write_all(transfer_for(plan), values_for(plan, data.data()), moved, reached);
  if (file.comm->rank() == 0) count_ratio(reached, MPI_Wtime() - began);
  // Programs may read at once what any rank has written.
  if (status.ok() && file.reads()) status = file.writer->share_index();
  if (!status.ok()) return own(status, file.comm->rank() == 0);
  count_write(plan.bytes, moved);
  return finish(file, access, plan.bytes);
}

Outcome write_together(OpenFile& file, const Access& access) {
  const Result<uint64_t> at = place_of(file, access);
  WritePlan plan;
  const Status planned = mpi::guarded("write", [&]() -> Status {
    NEVE_TRY(at.status());
    plan = plan_write(file.view, *at, elements_in(access));
    return {};
  });
  const Status agreed = mpi::agree(*file.comm, planned);
  if (!agreed.ok()) return own(agreed, file.comm->rank() == 0);
  const Status met = meet(file, propose(file, plan, elements_in(access)));
  if (!met.ok()) return own(met, file.comm->rank() == 0);
  if (file.state == State::framed) return write_frames(file, access, plan);
  const Outcome done = finish_natively(file, access, *at);
  if (file.state != State::plain) return done;
  const Status handed = hand_over_pointers(file);
  return handed.ok() ? done : own(handed, file.comm->rank() == 0);
}

// Until the next collective call.
Outcome keep_in_journal(OpenFile& file, const Access& access, const WritePlan& plan) {
  OpenFile& content = file.content();
  const Status kept = content.journal.write(plan, [&](const Journal::Take& take) {
    return pack(elements_in(access), [&](uint64_t, ByteSpan part) { return take(part); });
  });
  if (!kept.ok()) return own(kept);
  if (content.objection == Reason::none) content.objection = plan.reason;
  count_write(plan.bytes, {});
  return finish(file, access, plan.bytes);
}

// This rank alone.
Outcome write_alone(OpenFile& file, const Access& access) {
  OpenFile& content = file.content();
  const Result<uint64_t> at = place_of(file, access);
  if (!at.ok()) return own(at.status());
  WritePlan plan = plan_write(file.view, *at, elements_in(access));
  if (plan.bytes == 0) return finish(file, access, 0);
  const bool begins = plan.reason == Reason::none && !plan.is_raw && plan.bytes >= settings().min_bytes &&
                      content.objection == Reason::none;
  if (content.state == State::undecided && content.journal.is_empty() && !begins) {
    return finish_natively(file, access, *at);
  }
  if (content.state == State::framed && content.writer == nullptr) plan.reason = Reason::not_asked_for;
  // What comes behind something in the journal is later than that.
  if (content.state == State::undecided || plan.reason != Reason::none || !content.journal.is_empty() ||
      content.writer->held_bytes() > max_held_bytes) {
    return keep_in_journal(file, access, plan);
  }
  Bytes room;
  const Result<ByteSpan> data = packed(elements_in(access), room);
  if (!data.ok()) return own(data.status());
  mpi::Moved moved;
  const Status written = content.writer->write(transfer_for(plan), values_for(plan, data->data()), moved);
  if (!written.ok()) return own(written);
  count_write(plan.bytes, moved);
  return finish(file, access, plan.bytes);
}

// From byte `at` of the view on, as far as the file goes: `bytes` in all.
Status read_elements(OpenFile& file, const Elements& elements, uint64_t at, uint64_t bytes) {
  const auto read_part = [&](uint64_t before, std::span<std::byte> out) -> Status {
    std::vector<FileBox> boxes;
    if (!file.view.append_boxes(at + before, out.size(), SIZE_MAX, boxes)) {
      return failure(file.path + ": a read behind the largest file");
    }
    return read_boxes(file.content(), boxes, out);
  };
  if (bytes == 0) return {};
  if (is_dense(elements.type)) {
    return read_part(0, {static_cast<std::byte*>(const_cast<void*>(elements.data)), bytes});
  }
  return unpack(elements, bytes, read_part);
}

Outcome read_here(OpenFile& file, const Access& access, uint64_t at) {
  const uint64_t end = file.view.bytes_before(size_of(file.content()));
  const uint64_t bytes = std::min(asked_bytes(access), end > at ? end - at : 0);
  const Status read =
      mpi::guarded("read", [&] { return read_elements(file, elements_in(access), at, bytes); });
  if (!read.ok()) return own(read);
  ++counts.reads;
  return finish(file, access, bytes);
}

Outcome read_alone(OpenFile& file, const Access& access) {
  const Result<uint64_t> at = place_of(file, access);
  if (!at.ok()) return own(at.status());
  const OpenFile& content = file.content();
  const bool is_native = content.state == State::undecided && content.journal.is_empty();
  return is_native ? finish_natively(file, access, *at) : read_here(file, access, *at);
}

Outcome read_together(OpenFile& file, const Access& access) {
  const Result<uint64_t> at = place_of(file, access);
  if (file.writes()) {
    Status met = mpi::agree(*file.comm, at.status());
    if (met.ok()) met = meet(file, propose(file));
    if (met.ok() && file.writer != nullptr) met = file.writer->share_index();
    if (!met.ok()) return own(met, file.comm->rank() == 0);
  }
  if (!at.ok()) return own(at.status());
  if (file.state == State::framed) return read_here(file, access, *at);
  const Outcome done = finish_natively(file, access, *at);
  if (file.state != State::plain) return done;
  const Status handed = hand_over_pointers(file);
  return handed.ok() ? done : own(handed, file.comm->rank() == 0);
}

}  // namespace

uint64_t asked_bytes(const Access& access) {
  return static_cast<uint64_t>(access.count) * type_bytes(access.type);
}

int access_file(MPI_File handle, const Access& access, const Plain& plain) {
  return with_file(handle, plain, [&](OpenFile& file) {
    // (What Open MPI leaves behind of such a collective write can stop a later one.)
    if (access.is_write && !file.writes()) return Outcome{MPI_ERR_READ_ONLY, true};
    if (!is_sound(file, access)) return native(plain(file.native));
    // Another file's followers have no collective calls of their own; but ordered ones have an order.
    const bool is_together = waits(access) && !file.leader;
    if (access.is_write) return is_together ? write_together(file, access) : write_alone(file, access);
    return is_together ? read_together(file, access) : read_alone(file, access);
  });
}

int end_split(MPI_File handle, MPI_Status* status, const Plain& plain) {
  const std::shared_ptr<OpenFile> file = Inside::is() ? nullptr : find_open(handle);
  if (file == nullptr || !file->split_bytes) return plain(file == nullptr ? handle : file->native);
  const Inside inside;
  set_status(status, *std::exchange(file->split_bytes, std::nullopt));
  return MPI_SUCCESS;
}

FileCounts& file_counts() { return counts; }

}  // namespace neve::pmpi
