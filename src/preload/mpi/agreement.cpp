// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/agreement.hpp"

#include <array>
#include <cstring>

#include "io/plotfile/file.hpp"
#include "preload/mpi/file_ratios.hpp"
#include "preload/mpi/file_speed.hpp"
#include "preload/mpi/make_plain.hpp"
#include "preload/mpi/native_calls.hpp"
#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

// Of a file without frames, that become the first piece of one.
constexpr uint64_t max_bytes_before = uint64_t{256} << 20;
// Of pieces that a rank's journal has, encoded before they are written.
constexpr uint64_t max_round_bytes = uint64_t{64} << 20;

struct Agreed {
  Reason objection = Reason::none;
  uint64_t value_bytes = 0;
  bool has_journal = false;  // of some rank
};

Result<Agreed> agree_on(OpenFile& file, const Proposal& mine) {
  std::array<uint64_t, 4> numbers = {static_cast<uint64_t>(mine.objection), mine.value_bytes,
                                     file.journal.is_empty() ? uint64_t{0} : uint64_t{1}, file.min_bytes};
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()),
                                         MPI_UINT64_T, MPI_MAX, file.comm->get()),
                           "agreement on a file"));
  file.min_bytes = numbers[3];
  return Agreed{static_cast<Reason>(numbers[0]), numbers[1], numbers[2] != 0};
}

// Collective: how many bytes MPI has written of the file, wherever; all of them are on the device.
Result<uint64_t> bytes_before(OpenFile& file) {
  MPI_File_sync(file.native);
  MPI_Barrier(file.comm->get());
  MPI_Offset bytes = 0;
  if (file.comm->rank() == 0) MPI_File_get_size(file.native, &bytes);
  NEVE_TRY(mpi::mpi_status(MPI_Bcast(&bytes, 1, MPI_OFFSET, 0, file.comm->get()), "size of a file"));
  return static_cast<uint64_t>(bytes);
}

// On rank 0: what MPI has written becomes the first piece.
Status take_in(OpenFile& file, uint64_t bytes) {
  if (bytes == 0) return {};
  Bytes before(bytes);
  WritePlan plan;
  plan.bytes = bytes;
  plan.is_raw = true;
  plan.boxes = {line_box(0, 1, bytes)};
  NEVE_TRY(read_frame_bytes(file, plan.boxes, before));
  mpi::Moved moved;
  return file.writer->write(transfer_for(plan), values_for(plan, before.data()), moved);
}

// Collective.
Status begin_frames(OpenFile& file, uint64_t before) {
  NEVE_ASSIGN(file.writer,
              mpi::FrameFileWriter::open(file.comm->get(), file.path, mpi::FrameFileWriter::Begin::anew,
                                         mpi::FrameFileWriter::Types::any, file_rate_sites()));
  Status taken;
  if (file.comm->rank() == 0) taken = mpi::guarded("frames", [&] { return take_in(file, before); });
  NEVE_TRY(mpi::agree(*file.comm, taken));
  file.min_bytes = std::max(file.min_bytes, before);
  file.state = State::framed;
  return {};
}

// Collective: what ranks have in their journals goes among the frames, some of it at a time.
Status take_journals(OpenFile& file) {
  size_t next = 0;
  int is_any = 1;
  while (is_any != 0) {
    const Status taken = mpi::guarded("frames", [&]() -> Status {
      const auto& entries = file.journal.entries();
      Bytes bytes;
      mpi::Moved moved;
      for (; next < entries.size() && file.writer->held_bytes() < max_round_bytes; ++next) {
        NEVE_TRY(file.journal.read(entries[next], bytes));
        const WritePlan& plan = entries[next].plan;
        NEVE_TRY(file.writer->write(transfer_for(plan), values_for(plan, bytes.data()), moved));
      }
      file_counts().frame_bytes += moved.frame_bytes;
      return {};
    });
    NEVE_TRY(mpi::agree(*file.comm, taken));
    mpi::Moved nothing;
    NEVE_TRY(file.writer->write_all(transfer_for({}), {}, nothing));
    is_any = next < file.journal.entries().size() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_any, 1, MPI_INT, MPI_MAX, file.comm->get());
  }
  file.journal.clear();
  return {};
}

Status become_framed(OpenFile& file) {
  NEVE_ASSIGN(const uint64_t before, bytes_before(file));
  if (before > max_bytes_before) return settle_plain(file, Reason::too_much_before);
  if (begin_frames(file, before).ok()) return {};
  if (file.writer != nullptr) NEVE_TRY(file.writer->abandon());
  file.writer.reset();
  return settle_plain(file, Reason::no_room_beside);
}

// Collective, of an ordered call: where this rank's part begins.
Result<uint64_t> place_in_order(OpenFile& file, uint64_t bytes) {
  uint64_t before = 0, total = 0, start = 0;
  NEVE_TRY(mpi::mpi_status(MPI_Exscan(&bytes, &before, 1, MPI_UINT64_T, MPI_SUM, file.comm->get()),
                           "order of ranks"));
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(&bytes, &total, 1, MPI_UINT64_T, MPI_SUM, file.comm->get()),
                           "order of ranks"));
  Status moved;
  if (file.comm->rank() == 0) {
    before = 0;
    const Result<uint64_t> value = file.shared.advance(total);
    moved = value.status();
    if (value.ok()) start = *value;
  }
  NEVE_TRY(mpi::agree(*file.comm, moved));
  NEVE_TRY(mpi::mpi_status(MPI_Bcast(&start, 1, MPI_UINT64_T, 0, file.comm->get()), "order of ranks"));
  return start + before;
}

}  // namespace

Result<uint64_t> place_of(OpenFile& file, const Access& access) {
  switch (access.pointer) {
    case Pointer::given:
      return static_cast<uint64_t>(access.offset) * file.view.element_bytes();
    case Pointer::own:
      break;
    case Pointer::shared:
      return file.shared.advance(asked_bytes(access));
    case Pointer::ordered:
      return place_in_order(file, asked_bytes(access));
  }
  return file.position;
}

Proposal propose(const OpenFile& file, const WritePlan& plan, const Elements& values) {
  Proposal mine{file.objection, plan.is_raw ? 0 : plan.bytes};
  if (mine.value_bytes > 0) {
    mine.values = values;
    mine.dtype = plan.dtype;
  }
  if (mine.objection == Reason::none) mine.objection = plan.reason;
  if (file.state == State::framed && file.writer == nullptr && plan.bytes > 0) {
    mine.objection = Reason::not_asked_for;
  }
  return mine;
}

Status meet(OpenFile& file, const Proposal& mine) {
  NEVE_ASSIGN(const Agreed agreed, agree_on(file, mine));
  if (agreed.objection != Reason::none) {
    return file.state == State::framed ? make_plain(file, agreed.objection)
                                       : settle_plain(file, agreed.objection);
  }
  if (file.state == State::undecided) {
    if (!agreed.has_journal && (agreed.value_bytes == 0 || agreed.value_bytes < settings().min_bytes))
      return {};
    NEVE_ASSIGN(const bool pays, frames_pay(file, mine, agreed.value_bytes));
    if (!pays) return settle_plain(file, Reason::does_not_pay);
    NEVE_TRY(become_framed(file));
  }
  if (file.state != State::framed || file.writer == nullptr) return {};
  if (agreed.has_journal) NEVE_TRY(take_journals(file));
  file.writer->extend(file.min_bytes);
  return {};
}

Status meet(OpenFile& file) {
  NEVE_TRY(meet(file, propose(file)));
  return file.state == State::plain ? hand_over_pointers(file) : Status();
}

}  // namespace neve::pmpi
