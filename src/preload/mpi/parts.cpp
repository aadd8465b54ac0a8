// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/parts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "preload/mpi/packed.hpp"

namespace neve::pmpi {

int parts_sent(const Collective& call, const Place& place) {
  switch (call.kind) {
    case Kind::gather:
    case Kind::allgather:
      return 1;
    case Kind::alltoall:
      return place.ranks;
    case Kind::bcast:
      return place.rank == call.root ? 1 : 0;
    case Kind::scatter:
      break;
  }
  return place.rank == call.root ? place.ranks : 0;
}

int parts_received(const Collective& call, const Place& place) {
  switch (call.kind) {
    case Kind::allgather:
    case Kind::alltoall:
      return place.ranks;
    case Kind::bcast:
      return place.rank == call.root ? 0 : 1;
    case Kind::scatter:
      return 1;
    case Kind::gather:
      break;
  }
  return place.rank == call.root ? place.ranks : 0;
}

bool sends_in_place(const Collective& call, const Place& place) {
  if (call.send.data != MPI_IN_PLACE) return false;
  return call.kind == Kind::allgather || call.kind == Kind::alltoall ||
         (call.kind == Kind::gather && place.rank == call.root);
}

bool receives_in_place(const Collective& call, const Place& place) {
  return call.recv.data == MPI_IN_PLACE && call.kind == Kind::scatter && place.rank == call.root;
}

std::optional<std::vector<Part>> read_parts(const Side& side, int parts) {
  std::vector<Part> found;
  if (parts == 0) return found;
  if (side.type == MPI_DATATYPE_NULL || side.data == MPI_IN_PLACE) return {};
  if (side.is_of_counts && (!side.count_of || !side.displ_of)) return {};
  bool has_some = false;
  for (int i = 0; i < parts; ++i) {
    const int64_t count = side.is_of_counts ? side.count_of(i) : side.count;
    const int64_t displ = side.is_of_counts ? side.displ_of(i) : i * side.count;
    if (count < 0 || displ < 0) return {};
    has_some = has_some || count > 0;
    found.push_back({count, displ});
  }
  if (has_some && side.data == nullptr) return {};
  return found;
}

Values::Values(const Side& side, std::vector<Part> parts, const std::optional<ValueType>& type,
               bool is_packed)
    : side_(&side), parts_(std::move(parts)), is_packed_(is_packed) {
  MPI_Aint lower = 0, extent = 0;
  if (type && MPI_Type_get_extent(side.type, &lower, &extent) == MPI_SUCCESS) extent_ = extent;
  value_bytes_ = type ? dtype_bytes(type->dtype) : 0;
  const uint64_t of_instance = type ? type->values : 0;
  uint64_t next = 0;
  for (const Part& part : parts_) {
    counts_.push_back(static_cast<uint64_t>(part.count) * of_instance);
    displs_.push_back(is_packed ? next : static_cast<uint64_t>(part.displ) * of_instance);
    next += counts_.back();
  }
  if (is_packed) room_.resize(next * value_bytes_);
}

Elements Values::elements(size_t i) const {
  auto* const data = static_cast<std::byte*>(side_->data) + parts_[i].displ * extent_;
  return {data, parts_[i].count, side_->type};
}

Status Values::pack_all() {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    std::byte* const out = room_.data() + displs_[i] * value_bytes_;
    NEVE_TRY(pack(elements(i), [&](uint64_t before, ByteSpan bytes) -> Status {
      std::memcpy(out + before, bytes.data(), bytes.size());
      return {};
    }));
  }
  return {};
}

Status Values::unpack(size_t i) const {
  if (counts_[i] == 0) return {};
  const uint64_t bytes = counts_[i] * value_bytes_;
  const std::byte* const from = room_.data() + displs_[i] * value_bytes_;
  return pmpi::unpack(elements(i), bytes, [&](uint64_t before, std::span<std::byte> out) -> Status {
    std::memcpy(out.data(), from + before, out.size());
    return {};
  });
}

}  // namespace neve::pmpi
