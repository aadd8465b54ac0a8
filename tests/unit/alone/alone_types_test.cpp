// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of the MPI of one process, against types that list every byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "alone/mpi.h"

namespace {

// A type as the standard defines it: the place of each byte, and what one takes up.
struct Reference {
  std::vector<MPI_Aint> places;
  MPI_Aint begin = 0, end = 0;
  bool is_empty = true;

  void add(const Reference& old, MPI_Aint at) {
    for (const MPI_Aint place : old.places) places.push_back(at + place);
    begin = is_empty ? at + old.begin : std::min(begin, at + old.begin);
    end = is_empty ? at + old.end : std::max(end, at + old.end);
    is_empty = false;
  }
  void add_several(const Reference& old, MPI_Aint at, int count) {
    for (int i = 0; i < count; ++i) add(old, at + i * (old.end - old.begin));
  }
};

struct Both {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Reference reference;
};

Both named(MPI_Datatype type, MPI_Aint bytes) {
  Both both{type, {}};
  for (MPI_Aint i = 0; i < bytes; ++i) both.reference.places.push_back(i);
  both.reference.end = bytes;
  both.reference.is_empty = false;
  return both;
}

class Types {
 public:
  explicit Types(unsigned seed) : random_(seed) {}
  ~Types() {
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }

  Both any(int depth) {
    if (depth == 0) {
      const Both leaves[] = {named(MPI_BYTE, 1), named(MPI_INT, 4), named(MPI_DOUBLE, 8)};
      return leaves[below(3)];
    }
    Both made;
    switch (below(4)) {
      case 0: {
        const Both old = any(depth - 1);
        const int count = 1 + below(4);
        EXPECT_EQ(MPI_Type_contiguous(count, old.type, &made.type), MPI_SUCCESS);
        made.reference.add_several(old.reference, 0, count);
        break;
      }
      case 1: {
        const Both old = any(depth - 1);
        const int count = 1 + below(4), length = 1 + below(3), stride = below(90) - 20;
        EXPECT_EQ(MPI_Type_create_hvector(count, length, stride, old.type, &made.type), MPI_SUCCESS);
        for (int i = 0; i < count; ++i) made.reference.add_several(old.reference, i * stride, length);
        break;
      }
      case 2: {
        const Both old = any(depth - 1);
        std::vector<int> lengths;
        std::vector<MPI_Aint> places;
        MPI_Aint at = 0;
        for (int i = 0; i <= below(4); ++i) {
          lengths.push_back(below(3));
          places.push_back(at += below(60));
          if (lengths.back() > 0) made.reference.add_several(old.reference, places.back(), lengths.back());
        }
        EXPECT_EQ(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                                           old.type, &made.type),
                  MPI_SUCCESS);
        break;
      }
      default: {
        const Both parts[] = {any(depth - 1), any(depth - 1)};
        const int lengths[] = {1 + below(2), 1 + below(2)};
        const MPI_Aint places[] = {below(50), 300 + below(50)};
        const MPI_Datatype types[] = {parts[0].type, parts[1].type};
        EXPECT_EQ(MPI_Type_create_struct(2, lengths, places, types, &made.type), MPI_SUCCESS);
        for (int i = 0; i < 2; ++i) made.reference.add_several(parts[i].reference, places[i], lengths[i]);
      }
    }
    EXPECT_EQ(MPI_Type_commit(&made.type), MPI_SUCCESS);
    made_.push_back(made.type);
    return made;
  }
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

 private:
  std::mt19937 random_;
  std::vector<MPI_Datatype> made_;
};

// What a message of `count` of the type at `base` holds.
std::vector<unsigned char> packed(const Reference& type, int count, const unsigned char* base) {
  std::vector<unsigned char> bytes;
  for (int i = 0; i < count; ++i) {
    for (const MPI_Aint place : type.places) bytes.push_back(base[i * (type.end - type.begin) + place]);
  }
  return bytes;
}

constexpr size_t memory_bytes = 1 << 20, middle = memory_bytes / 2;

TEST(AloneTypes, MessagesHoldTheBytesOfAnyTypeInItsOrder) {
  std::vector<unsigned char> memory(memory_bytes);
  std::iota(memory.begin(), memory.end(), static_cast<unsigned char>(0));
  for (size_t i = 0; i < memory.size(); ++i) memory[i] ^= static_cast<unsigned char>(i >> 8);
  for (unsigned seed = 0; seed < 300; ++seed) {
    Types types(seed);
    const Both one = types.any(1 + types.below(3));
    const int count = 1 + types.below(3);
    const std::vector<unsigned char> wanted = packed(one.reference, count, memory.data() + middle);
    int size = -1;
    ASSERT_EQ(MPI_Type_size(one.type, &size), MPI_SUCCESS);
    ASSERT_EQ(static_cast<size_t>(size), one.reference.places.size());

    std::vector<unsigned char> found(wanted.size() + 1);
    MPI_Request requests[2];
    const auto room = static_cast<int>(wanted.size());
    ASSERT_EQ(MPI_Isend(memory.data() + middle, count, one.type, 0, 7, MPI_COMM_WORLD, &requests[0]),
              MPI_SUCCESS);
    ASSERT_EQ(MPI_Irecv(found.data(), room, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &requests[1]), MPI_SUCCESS);
    MPI_Status statuses[2];
    ASSERT_EQ(MPI_Waitall(2, requests, statuses), MPI_SUCCESS);
    ASSERT_EQ(requests[1], MPI_REQUEST_NULL);
    MPI_Count bytes = -1;
    ASSERT_EQ(MPI_Get_elements_x(&statuses[1], MPI_BYTE, &bytes), MPI_SUCCESS);
    ASSERT_EQ(static_cast<size_t>(bytes), wanted.size());
    found.pop_back();
    ASSERT_EQ(found, wanted) << "seed " << seed;
  }
}

TEST(AloneTypes, WhatIsReceivedAsATypeLiesAtItsPlaces) {
  for (unsigned seed = 1000; seed < 1200; ++seed) {
    Types types(seed);
    const Both one = types.any(1 + types.below(2));
    const Reference& places = one.reference;
    std::vector<unsigned char> sent(places.places.size());
    std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(1));
    std::vector<unsigned char> memory(memory_bytes, 0), wanted(memory_bytes, 0);
    for (size_t i = 0; i < sent.size(); ++i) {
      wanted[static_cast<size_t>(static_cast<MPI_Aint>(middle) + places.places[i])] = sent[i];
    }
    MPI_Request requests[2];
    ASSERT_EQ(MPI_Irecv(memory.data() + middle, 1, one.type, 0, 1, MPI_COMM_SELF, &requests[0]), MPI_SUCCESS);
    ASSERT_EQ(
        MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[1]),
        MPI_SUCCESS);
    ASSERT_EQ(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(memory, wanted) << "seed " << seed;
  }
}

TEST(AloneTypes, ABlockLargerThanAnyMemoryCostsNone) {
  const int lengths[] = {2'000'000'000, 2'000'000'000};
  const MPI_Aint places[] = {0, 2'000'000'000};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &type), MPI_SUCCESS);
  int size = 0;
  EXPECT_NE(MPI_Type_size(type, &size), MPI_SUCCESS);  // more than an int counts
  EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
  EXPECT_EQ(type, MPI_DATATYPE_NULL);
}

TEST(AloneTypes, NamedTypesAreNotFreed) {
  MPI_Datatype type = MPI_DOUBLE;
  EXPECT_NE(MPI_Type_free(&type), MPI_SUCCESS);
  EXPECT_EQ(type, MPI_DOUBLE);
}

}  // namespace
