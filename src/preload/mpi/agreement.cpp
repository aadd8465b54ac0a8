// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/agreement.hpp"

#include <array>

#include "parallel/transfer/mpi_type.hpp"
#include "preload/mpi/make_plain.hpp"
#include "preload/mpi/packed.hpp"
#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

// Collective. What MPI has of the file until now is ours to keep.
Status begin_frames(OpenFile& file) {
  MPI_Offset position = 0, bytes = 0;
  MPI_File_get_position(file.native, &position);
  MPI_File_get_size(file.native, &bytes);
  file.position = static_cast<uint64_t>(position) * file.element_bytes;
  file.min_bytes = static_cast<uint64_t>(bytes);
  NEVE_ASSIGN(file.writer,
              mpi::FrameFileWriter::open(file.comm->get(), file.path, mpi::FrameFileWriter::Begin::anew));
  NEVE_TRY(file.shared.place(*file.comm, file.path));
  file.state = State::framed;
  file.is_emptied = false;
  return {};
}

}  // namespace

uint64_t asked_bytes(const Access& access) {
  return static_cast<uint64_t>(access.count) * type_bytes(access.type);
}

Result<uint64_t> place_of(OpenFile& file, const Access& access) {
  switch (access.pointer) {
    case Pointer::given:
      return static_cast<uint64_t>(access.offset) * file.element_bytes;
    case Pointer::own:
      break;
    case Pointer::shared:
    case Pointer::ordered:
      return file.content().shared.advance(asked_bytes(access));
  }
  if (file.state == State::framed) return file.position;
  MPI_Offset position = 0;
  MPI_File_get_position(file.native, &position);
  return static_cast<uint64_t>(position) * file.element_bytes;
}

Reason unsuitable(const Access& access, uint64_t first_byte) {
  constexpr uint64_t max_values = uint64_t{1} << 40;  // docs/format.md
  const auto dtype = mpi::dtype_of(access.type);
  if (!dtype || is_integer(*dtype)) return Reason::other_type;
  if (first_byte % dtype_bytes(*dtype) != 0) return Reason::inside_of_value;
  const uint64_t first = first_byte / dtype_bytes(*dtype);
  if (first > max_values || static_cast<uint64_t>(access.count) > max_values - first)
    return Reason::too_large;
  return Reason::none;
}

Proposal propose(OpenFile& file, const Access& access) {
  Proposal mine;
  mine.objection = file.objection;
  if (access.pointer == Pointer::ordered) mine.objection = Reason::shared_pointer;
  if (file.state == State::framed && file.writer == nullptr) mine.objection = Reason::not_asked_for;
  if (access.count == 0 || mine.objection != Reason::none) return mine;
  const Result<uint64_t> place = place_of(file, access);
  mine.objection = place.ok() ? unsuitable(access, file.displacement + *place) : Reason::shared_pointer;
  if (mine.objection != Reason::none) return mine;
  mine.dtype = mpi::dtype_of(access.type);
  mine.bytes = static_cast<uint64_t>(access.count) * dtype_bytes(*mine.dtype);
  return mine;
}

Result<Proposal> agree(OpenFile& file, const Proposal& mine) {
  constexpr int64_t none = 255;
  std::array<int64_t, 4> numbers = {-static_cast<int64_t>(mine.objection), -static_cast<int64_t>(mine.bytes),
                                    mine.dtype ? static_cast<int64_t>(*mine.dtype) : none,
                                    mine.dtype ? -static_cast<int64_t>(*mine.dtype) : none};
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()),
                                         MPI_INT64_T, MPI_MIN, file.comm->get()),
                           "agreement on a file"));
  Proposal all{static_cast<Reason>(-numbers[0]), static_cast<uint64_t>(-numbers[1]), {}};
  if (numbers[2] != none) all.dtype = static_cast<DType>(numbers[2]);
  if (all.objection != Reason::none || !all.dtype) return all;
  const auto held = file.state == State::framed ? dtype_of(file) : std::nullopt;
  if (numbers[2] != -numbers[3]) {
    all.objection = Reason::mixed_types;
  } else if (held && *held != *all.dtype) {
    all.objection = Reason::other_type;
  } else if (file.state == State::undecided && all.bytes < settings().min_bytes) {
    all.objection = Reason::first_is_small;
  }
  return all;
}

Status settle(OpenFile& file, const Proposal& agreed) {
  if (agreed.objection != Reason::none) {
    return file.state == State::framed ? make_plain(file, agreed.objection)
                                       : settle_plain(file, agreed.objection);
  }
  if (file.state != State::undecided || !agreed.dtype) return {};
  return begin_frames(file).ok() ? Status() : settle_plain(file, Reason::no_room_beside);
}

Status settle_for_good(OpenFile& file) {
  Proposal mine;
  mine.objection = file.objection;
  NEVE_ASSIGN(const Proposal agreed, agree(file, mine));
  NEVE_TRY(settle(file, agreed));
  if (file.state == State::undecided) return publish_emptied(file);
  // The size that the program gave the file, in whole values.
  if (file.state != State::framed || file.writer == nullptr || !file.writer->dtype()) return {};
  const size_t value_bytes = dtype_bytes(*file.writer->dtype());
  if (file.min_bytes > 0) file.writer->extend((file.min_bytes + value_bytes - 1) / value_bytes);
  return {};
}

}  // namespace neve::pmpi
