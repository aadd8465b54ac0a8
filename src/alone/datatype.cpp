// SPDX-License-Identifier: BSD-3-Clause
#include "alone/datatype.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "alone/errors.hpp"

namespace neve::alone {

const Datatype of_1_byte{{{0, 1}}, 0, 1, 1};
const Datatype of_4_bytes{{{0, 4}}, 0, 4, 4};
const Datatype of_8_bytes{{{0, 8}}, 0, 8, 8};

namespace {

void add_run(Datatype& type, Run run) {
  if (run.bytes == 0) return;
  Run* const last = type.runs.empty() ? nullptr : &type.runs.back();
  if (last != nullptr && last->at + static_cast<MPI_Aint>(last->bytes) == run.at) {
    last->bytes += run.bytes;
  } else {
    type.runs.push_back(run);
  }
  type.bytes += run.bytes;
}

// `count` of `old` from `at` on.
void add(Datatype& type, const Datatype& old, MPI_Aint at, uint64_t count) {
  if (count == 0) return;
  const bool is_first = type.begin == 0 && type.end == 0 && type.runs.empty();
  const MPI_Aint begin = at + old.begin;
  const MPI_Aint end = begin + static_cast<MPI_Aint>(count) * old.extent();
  type.begin = is_first ? begin : std::min(type.begin, begin);
  type.end = is_first ? end : std::max(type.end, end);
  if (old.is_one_block()) return add_run(type, {begin, old.bytes * count});
  for (uint64_t i = 0; i < count; ++i) {
    const MPI_Aint place = at + static_cast<MPI_Aint>(i) * old.extent();
    for (const Run& run : old.runs) add_run(type, {place + run.at, run.bytes});
  }
}

template <class Fill>
int make(MPI_Datatype* made, const Fill& fill) {
  return guarded([&] {
    auto type = std::make_unique<Datatype>();
    const int filled = fill(*type);
    if (filled == MPI_SUCCESS) *made = type.release();
    return filled;
  });
}

}  // namespace

Bytes::Bytes(const Datatype& type, MPI_Aint base, uint64_t count)
    : type_(type), base_(base), count_(type.bytes == 0 ? 0 : count) {}

Run Bytes::next(uint64_t most) {
  if (count_ == 0 || most == 0) return {};
  const Run& run = type_.runs[run_];
  const Run part{base_ + run.at + static_cast<MPI_Aint>(taken_), std::min(most, run.bytes - taken_)};
  taken_ += part.bytes;
  if (taken_ < run.bytes) return part;
  taken_ = 0;
  if (++run_ == type_.runs.size()) {
    run_ = 0;
    base_ += type_.extent();
    if (count_ != for_ever) --count_;
  }
  return part;
}

void Bytes::skip(uint64_t bytes) {
  const uint64_t whole = type_.bytes == 0 ? 0 : bytes / type_.bytes;
  base_ += static_cast<MPI_Aint>(whole) * type_.extent();
  if (count_ != for_ever) count_ -= std::min(whole, count_);
  for (uint64_t left = bytes - whole * type_.bytes; left > 0 && count_ > 0;) left -= next(left).bytes;
}

int copy_values(const void* from, int count, MPI_Datatype type, void* to, int room, MPI_Datatype type_there) {
  if (count < 0 || room < 0) return bad_argument;
  const uint64_t bytes = static_cast<uint64_t>(count) * type->bytes;
  if (bytes > static_cast<uint64_t>(room) * type_there->bytes) return message_too_long;
  Bytes source(*type, reinterpret_cast<MPI_Aint>(from), static_cast<uint64_t>(count));
  Bytes target(*type_there, reinterpret_cast<MPI_Aint>(to), static_cast<uint64_t>(room));
  for (uint64_t done = 0; done < bytes;) {
    const Run place = target.next(bytes - done);
    for (uint64_t in_place = 0; in_place < place.bytes;) {
      const Run part = source.next(place.bytes - in_place);
      std::memmove(reinterpret_cast<void*>(place.at + static_cast<MPI_Aint>(in_place)),
                   reinterpret_cast<const void*>(part.at), part.bytes);
      in_place += part.bytes;
    }
    done += place.bytes;
  }
  return MPI_SUCCESS;
}

}  // namespace neve::alone

using namespace neve::alone;

int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* made) {
  return make(made, [&](Datatype& type) -> int {
    if (count < 0) return bad_argument;
    add(type, *old, 0, static_cast<uint64_t>(count));
    return MPI_SUCCESS;
  });
}

int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* made) {
  return make(made, [&](Datatype& type) -> int {
    if (count < 0 || length < 0) return bad_argument;
    for (int i = 0; i < count; ++i) add(type, *old, i * stride, static_cast<uint64_t>(length));
    return MPI_SUCCESS;
  });
}

int MPI_Type_create_hindexed(int count, const int* lengths, const MPI_Aint* places, MPI_Datatype old,
                             MPI_Datatype* made) {
  return make(made, [&](Datatype& type) -> int {
    for (int i = 0; i < count; ++i) {
      if (lengths[i] < 0) return bad_argument;
      add(type, *old, places[i], static_cast<uint64_t>(lengths[i]));
    }
    return MPI_SUCCESS;
  });
}

int MPI_Type_create_struct(int count, const int* lengths, const MPI_Aint* places, const MPI_Datatype* types,
                           MPI_Datatype* made) {
  return make(made, [&](Datatype& type) -> int {
    for (int i = 0; i < count; ++i) {
      if (lengths[i] < 0) return bad_argument;
      add(type, *types[i], places[i], static_cast<uint64_t>(lengths[i]));
    }
    return MPI_SUCCESS;
  });
}

int MPI_Type_commit(MPI_Datatype* type) {
  return *type == MPI_DATATYPE_NULL ? static_cast<int>(bad_argument) : MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype* type) {
  for (const MPI_Datatype own : {&of_1_byte, &of_4_bytes, &of_8_bytes}) {
    if (*type == own) return bad_argument;
  }
  delete *type;
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int MPI_Type_size(MPI_Datatype type, int* bytes) {
  if (type->bytes > static_cast<uint64_t>(std::numeric_limits<int>::max())) return bad_argument;
  *bytes = static_cast<int>(type->bytes);
  return MPI_SUCCESS;
}

int MPI_Get_address(const void* place, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(place);
  return MPI_SUCCESS;
}

// Of a type that is one value, which is all that elements are counted in here.
int MPI_Get_elements_x(const MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  if (!type->is_one_block()) return bad_argument;
  *count = status->bytes / static_cast<MPI_Count>(type->bytes);
  return MPI_SUCCESS;
}
