// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/packed.hpp"

#include <algorithm>

#include "parallel/comm/agree.hpp"
#include "preload/mpi/type_boxes.hpp"

namespace neve::pmpi {
namespace {

// Parts of whole elements: their memory, how many, and the bytes before them.
Status for_parts(const Elements& elements,
                 const std::function<Status(std::byte* data, int count, uint64_t before)>& work) {
  constexpr uint64_t most = uint64_t{16} << 20;
  const uint64_t element = type_bytes(elements.type);
  if (element == 0) return {};
  MPI_Aint lower = 0, extent = 0;
  NEVE_TRY(mpi::mpi_status(MPI_Type_get_extent(elements.type, &lower, &extent), "MPI_Type_get_extent"));
  const auto part = static_cast<int64_t>(std::max<uint64_t>(1, most / element));
  auto* const data = static_cast<std::byte*>(const_cast<void*>(elements.data));
  for (int64_t done = 0; done < elements.count; done += part) {
    NEVE_TRY(work(data + done * extent, static_cast<int>(std::min(part, elements.count - done)),
                  static_cast<uint64_t>(done) * element));
  }
  return {};
}

Status pack_part(const std::byte* data, int count, MPI_Datatype type, Bytes& bytes) {
  int room = 0, position = 0;
  NEVE_TRY(mpi::mpi_status(MPI_Pack_size(count, type, MPI_COMM_SELF, &room), "MPI_Pack_size"));
  bytes.resize(static_cast<size_t>(room));
  NEVE_TRY(
      mpi::mpi_status(MPI_Pack(data, count, type, bytes.data(), room, &position, MPI_COMM_SELF), "MPI_Pack"));
  bytes.resize(static_cast<size_t>(position));
  return {};
}

}  // namespace

uint64_t type_bytes(MPI_Datatype type) {
  MPI_Count bytes = 0;
  if (type == MPI_DATATYPE_NULL || MPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0) return 0;
  return static_cast<uint64_t>(bytes);
}

bool is_dense(MPI_Datatype type) {
  const auto boxes = boxes_of(type, 1);
  return boxes && boxes->boxes.size() == 1 && boxes->boxes[0].first == 0 && boxes->boxes[0].is_contiguous() &&
         boxes->bytes == boxes->extent;
}

Result<ByteSpan> packed(const Elements& elements, Bytes& room) {
  const uint64_t bytes = static_cast<uint64_t>(elements.count) * type_bytes(elements.type);
  if (bytes == 0) return ByteSpan();
  if (is_dense(elements.type)) return ByteSpan(static_cast<const std::byte*>(elements.data), bytes);
  room.reserve(bytes);
  NEVE_TRY(pack(elements, [&](uint64_t, ByteSpan part) -> Status {
    room.insert(room.end(), part.begin(), part.end());
    return {};
  }));
  return ByteSpan(room);
}

Status pack(const Elements& elements, const std::function<Status(uint64_t, ByteSpan)>& take) {
  Bytes bytes;
  return for_parts(elements, [&](std::byte* data, int count, uint64_t before) -> Status {
    NEVE_TRY(pack_part(data, count, elements.type, bytes));
    return take(before, bytes);
  });
}

Status unpack(const Elements& elements, uint64_t available,
              const std::function<Status(uint64_t, std::span<std::byte>)>& give) {
  Bytes bytes;
  return for_parts(elements, [&](std::byte* data, int count, uint64_t before) -> Status {
    if (before >= available) return {};
    // What the file does not have stays what it is.
    NEVE_TRY(pack_part(data, count, elements.type, bytes));
    const uint64_t here = std::min<uint64_t>(bytes.size(), available - before);
    NEVE_TRY(give(before, std::span(bytes).first(here)));
    int position = 0;
    return mpi::mpi_status(MPI_Unpack(bytes.data(), static_cast<int>(bytes.size()), &position, data, count,
                                      elements.type, MPI_COMM_SELF),
                           "MPI_Unpack");
  });
}

}  // namespace neve::pmpi
