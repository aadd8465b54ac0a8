// SPDX-License-Identifier: BSD-3-Clause
// MPI datatypes as boxes, against where MPI itself finds their bytes.
#include "preload/mpi/type_boxes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "core/bits/bytes.hpp"
#include "preload/mpi/file_view.hpp"

namespace neve::pmpi {
namespace {

constexpr size_t many = 1000;

// A type that is freed.
class Type {
 public:
  Type() = default;
  explicit Type(MPI_Datatype type) : type_(type) {}
  Type(Type&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  Type& operator=(Type&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~Type() {
    int numbers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    if (type_ == MPI_DATATYPE_NULL) return;
    MPI_Type_get_envelope(type_, &numbers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const { return type_; }
  int64_t extent() const {
    MPI_Aint lower = 0, bytes = 0;
    MPI_Type_get_extent(type_, &lower, &bytes);
    return bytes;
  }
  int64_t bytes() const {
    int bytes = 0;
    MPI_Type_size(type_, &bytes);
    return bytes;
  }
  // Of its bytes; MPI may say anything of a type that has none.
  int64_t begin() const {
    MPI_Aint lower = 0, span = 0;
    MPI_Type_get_true_extent(type_, &lower, &span);
    return bytes() == 0 ? 0 : lower;
  }
  int64_t end() const {
    MPI_Aint lower = 0, span = 0;
    MPI_Type_get_true_extent(type_, &lower, &span);
    return bytes() == 0 ? 0 : lower + span;
  }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// The numbers of the bytes of `count` instances, in the order in which MPI packs them.
std::vector<uint64_t> packed_numbers(const Type& type, int count) {
  MPI_Type_commit(std::array{type.get()}.data());
  const auto packed = static_cast<size_t>(type.bytes() * count);
  std::vector<uint64_t> numbers(packed, 0);
  const auto room = static_cast<size_t>(std::max<int64_t>(0, (count - 1) * type.extent()) + type.end() + 1);
  Bytes memory(room), out(packed + 1);
  for (unsigned shift = 0; shift < 32; shift += 8) {
    for (size_t i = 0; i < room; ++i) memory[i] = static_cast<std::byte>(i >> shift);
    int position = 0;
    MPI_Pack(memory.data(), count, type.get(), out.data(), static_cast<int>(out.size()), &position,
             MPI_COMM_SELF);
    for (size_t i = 0; i < packed; ++i) numbers[i] |= static_cast<uint64_t>(out[i]) << shift;
  }
  return numbers;
}

std::vector<uint64_t> numbers_of(const std::vector<FileBox>& boxes) {
  std::vector<uint64_t> numbers;
  for (const FileBox& box : boxes) {
    EXPECT_TRUE(check_file_box(box).ok()) << check_file_box(box).message();
    visit_runs(box, 0, max_file_bytes, [&](uint64_t, uint64_t at, uint64_t bytes) {
      for (uint64_t i = 0; i < bytes; ++i) numbers.push_back(at + i);
    });
  }
  return numbers;
}

class Random {
 public:
  explicit Random(uint32_t seed) : generator_(seed) {}
  int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(generator_); }

  Type named() {
    const std::array types = {MPI_FLOAT,     MPI_DOUBLE,    MPI_INT,          MPI_BYTE,     MPI_SHORT,
                              MPI_FLOAT_INT, MPI_SHORT_INT, MPI_DOUBLE_INT,   MPI_LONG_INT, MPI_2INT,
                              MPI_CHAR,      MPI_FLOAT,     MPI_LONG_LONG_INT};
    return Type(types[static_cast<size_t>(number(0, static_cast<int>(types.size()) - 1))]);
  }

  Type any(int depth) {
    if (depth == 0) return named();
    const Type old = any(depth - 1);
    if (old.extent() <= 0 || old.extent() > 40000) return named();
    switch (number(0, 11)) {
      case 0:
        return contiguous(old);
      case 1:
        return vector(old);
      case 2:
        return indexed(old, false);
      case 3:
        return indexed(old, true);
      case 4:
        return blocks(old, false);
      case 5:
        return blocks(old, true);
      case 6:
        return structure(old, depth);
      case 7:
      case 8:
        return subarray(old);
      case 9:
        return darray(old);
      case 10:
        return resized(old);
      default:
        return hvector(old);
    }
  }

 private:
  Type made(MPI_Datatype type) { return Type(type); }
  Type contiguous(const Type& old) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(number(0, 5), old.get(), &type);
    return made(type);
  }
  Type vector(const Type& old) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int length = number(0, 3);
    MPI_Type_vector(number(0, 4), length, length + number(0, 3), old.get(), &type);
    return made(type);
  }
  Type hvector(const Type& old) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int length = number(1, 3);
    MPI_Type_create_hvector(number(1, 4), length, length * old.extent() + number(0, 9), old.get(), &type);
    return made(type);
  }
  Type indexed(const Type& old, bool is_in_bytes) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int count = number(0, 5);
    std::vector<int> lengths, places;
    std::vector<MPI_Aint> addresses;
    int at = number(0, 2);
    for (int i = 0; i < count; ++i) {
      lengths.push_back(number(0, 3));
      places.push_back(at);
      addresses.push_back(at * old.extent() + (is_in_bytes ? i : 0));
      at += lengths.back() + number(0, 2) + (is_in_bytes ? 1 : 0);
    }
    if (is_in_bytes) {
      MPI_Type_create_hindexed(count, lengths.data(), addresses.data(), old.get(), &type);
    } else {
      MPI_Type_indexed(count, lengths.data(), places.data(), old.get(), &type);
    }
    return made(type);
  }
  Type blocks(const Type& old, bool is_in_bytes) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int count = number(0, 5), length = number(1, 3);
    std::vector<int> places;
    std::vector<MPI_Aint> addresses;
    for (int i = 0, at = number(0, 2); i < count; ++i, at += length + number(0, 2)) {
      places.push_back(at);
      addresses.push_back(at * old.extent());
    }
    if (is_in_bytes) {
      MPI_Type_create_hindexed_block(count, length, addresses.data(), old.get(), &type);
    } else {
      MPI_Type_create_indexed_block(count, length, places.data(), old.get(), &type);
    }
    return made(type);
  }
  Type structure(const Type& old, int depth) {
    const Type other = any(depth - 1);
    const std::array types = {old.get(), other.get(), old.get()};
    const std::array lengths = {number(0, 3), number(0, 2), number(0, 2)};
    std::array<MPI_Aint, 3> places = {number(0, 10), 0, 0};
    places[1] = places[0] + lengths[0] * old.extent() + old.end() + number(0, 5);
    places[2] = places[1] + lengths[1] * other.extent() + other.end() + number(0, 5);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(3, lengths.data(), places.data(), types.data(), &type);
    return made(type);
  }
  Type subarray(const Type& old) {
    const int ndim = number(1, 4);
    std::vector<int> sizes, parts, starts;
    for (int d = 0; d < ndim; ++d) {
      sizes.push_back(number(1, 4));
      parts.push_back(number(1, sizes.back()));
      starts.push_back(number(0, sizes.back() - parts.back()));
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(ndim, sizes.data(), parts.data(), starts.data(),
                             number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old.get(), &type);
    return made(type);
  }
  Type darray(const Type& old) {
    const int ndim = number(1, 3);
    std::vector<int> sizes, kinds, arguments, processes;
    int ranks = 1;
    for (int d = 0; d < ndim; ++d) {
      sizes.push_back(number(1, 7));
      kinds.push_back(std::array{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                 MPI_DISTRIBUTE_NONE}[static_cast<size_t>(number(0, 2))]);
      processes.push_back(kinds.back() == MPI_DISTRIBUTE_NONE ? 1 : number(1, 3));
      arguments.push_back(MPI_DISTRIBUTE_DFLT_DARG);
      if (kinds.back() == MPI_DISTRIBUTE_CYCLIC && number(0, 1) == 1) arguments.back() = number(1, 3);
      if (kinds.back() == MPI_DISTRIBUTE_BLOCK && number(0, 1) == 1) {
        arguments.back() = (sizes.back() + processes.back() - 1) / processes.back() + number(0, 1);
      }
      ranks *= processes.back();
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_darray(ranks, number(0, ranks - 1), ndim, sizes.data(), kinds.data(), arguments.data(),
                           processes.data(), number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old.get(),
                           &type);
    return made(type);
  }
  Type resized(const Type& old) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(old.get(), 0, std::max(old.end(), old.extent()) + number(0, 12), &type);
    return made(type);
  }

  std::mt19937 generator_;
};

bool rises(const std::vector<uint64_t>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
}

TEST(TypeBoxes, AreWhereMpiFindsTheBytes) {
  int told = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Type type = random.any(random.number(0, 3));
    const auto boxes = boxes_of(type.get(), many);
    const std::vector<uint64_t> expected = packed_numbers(type, 1);
    if (!boxes) {
      EXPECT_TRUE(!rises(expected) || type.begin() < 0 || expected.size() > many);
      continue;
    }
    ++told;
    EXPECT_EQ(static_cast<int64_t>(boxes->extent), type.extent());
    EXPECT_EQ(boxes->bytes, expected.size());
    ASSERT_EQ(numbers_of(boxes->boxes), expected);
  }
  EXPECT_GT(told, 3500);
}

void expect_part(const FileView& view, const std::vector<uint64_t>& all, uint64_t displacement, size_t at,
                 size_t bytes) {
  std::vector<FileBox> boxes;
  ASSERT_TRUE(view.append_boxes(at, bytes, many, boxes));
  std::vector<uint64_t> expected(all.begin() + static_cast<ptrdiff_t>(at),
                                 all.begin() + static_cast<ptrdiff_t>(at + bytes));
  for (uint64_t& number : expected) number += displacement;
  ASSERT_EQ(numbers_of(boxes), expected);
  if (bytes > 0) {
    EXPECT_EQ(view.place_of(at), expected[0]);
  }
  std::vector<FileBox> words = boxes;
  if (cut_into_values(4, many, words)) {
    ASSERT_EQ(numbers_of(words), expected);
    for (const FileBox& box : words) EXPECT_EQ(box.value_bytes, 4U);
  }
}

TEST(TypeBoxes, ViewsAreTiles) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Type type = random.any(random.number(0, 2));
    const int tiles = random.number(2, 6);
    const std::vector<uint64_t> all = packed_numbers(type, tiles);
    const auto displacement = static_cast<uint64_t>(random.number(0, 50));
    const auto view = FileView::of(static_cast<MPI_Offset>(displacement), MPI_BYTE, type.get());
    if (!view || all.empty() || !rises(all)) continue;
    const auto last = static_cast<int>(all.size());
    for (int part = 0; part < 5; ++part) {
      const int at = random.number(0, last - 1);
      expect_part(*view, all, displacement, static_cast<size_t>(at),
                  static_cast<size_t>(random.number(0, last - at)));
      const auto place = static_cast<uint64_t>(random.number(0, static_cast<int>(all.back())));
      const auto before = std::lower_bound(all.begin(), all.end(), place) - all.begin();
      EXPECT_EQ(view->bytes_before(displacement + place), static_cast<uint64_t>(before));
    }
  }
}

TEST(TypeBoxes, RegularTypesAreFewBoxes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const std::array sizes = {64, 48, 32}, parts = {16, 24, 8}, starts = {3, 5, 7};
  MPI_Type_create_subarray(3, sizes.data(), parts.data(), starts.data(), MPI_ORDER_C, MPI_FLOAT, &type);
  const Type block(type);
  const auto boxes = boxes_of(block.get(), 1);
  ASSERT_TRUE(boxes);
  std::vector<FileBox> values = boxes->boxes;
  ASSERT_TRUE(cut_into_values(4, 1, values));
  EXPECT_EQ(values[0].ndim, 3);
  EXPECT_EQ(values[0].directions[0], (FileDirection{16, 48 * 32 * 4}));
  EXPECT_EQ(values[0].directions[1], (FileDirection{24, 32 * 4}));
  EXPECT_EQ(values[0].directions[2], (FileDirection{8, 4}));
  // Of steps in time, as a view repeats them.
  const auto view = FileView::of(0, MPI_FLOAT, block.get());
  ASSERT_TRUE(view);
  values.clear();
  const uint64_t bytes = 16 * 24 * 8 * 4;
  ASSERT_TRUE(view->append_boxes(0, 5 * bytes, 1, values));
  ASSERT_TRUE(cut_into_values(4, 1, values));
  EXPECT_EQ(values[0].values(), 5 * bytes / 4);

  // A list of regular places is a direction, and one of lists two.
  std::vector<int> places(300);
  for (int i = 0; i < 300; ++i) places[static_cast<size_t>(i)] = i / 30 * 1000 + i % 30 * 10;
  MPI_Type_create_indexed_block(300, 4, places.data(), MPI_DOUBLE, &type);
  const Type list(type);
  const auto regular = boxes_of(list.get(), many);
  ASSERT_TRUE(regular);
  EXPECT_EQ(regular->boxes.size(), 1U);
}

// Counts of values along the directions of the array's part, the slowest first.
std::vector<uint64_t> shape_of_part(std::array<int, 3> parts, int order, int components = 1) {
  constexpr std::array sizes = {20, 24, 32}, starts = {0, 0, 0};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(components, MPI_FLOAT, &type);
  const Type value(type);
  MPI_Type_create_subarray(3, sizes.data(), parts.data(), starts.data(), order, value.get(), &type);
  const Type part(type);
  MPI_Type_create_resized(part.get(), 0, MPI_Aint{4} * components * 20 * 24 * 32, &type);
  const Type resized(type);
  auto boxes = boxes_of(resized.get(), 1);
  if (!boxes || !cut_into_values(4, 1, boxes->boxes)) return {};
  FileBox box = boxes->boxes[0];
  const FileBox least = merged(box);
  split_rows(rows_of(resized.get()), box);
  EXPECT_TRUE(check_file_box(box).ok());
  EXPECT_EQ(merged(box), least);
  return shape_of({least}, rows_of(resized.get()), 4);
}

TEST(TypeBoxes, PartsOfWholeRowsKeepTheArraysShape) {
  using Shape = std::vector<uint64_t>;
  EXPECT_EQ(shape_of_part({20, 24, 32}, MPI_ORDER_C), (Shape{20, 24, 32}));
  EXPECT_EQ(shape_of_part({5, 24, 32}, MPI_ORDER_C), (Shape{5, 24, 32}));
  EXPECT_EQ(shape_of_part({5, 6, 32}, MPI_ORDER_C), (Shape{5, 6, 32}));
  EXPECT_EQ(shape_of_part({5, 24, 8}, MPI_ORDER_C), (Shape{5, 24, 8}));
  EXPECT_EQ(shape_of_part({1, 24, 32}, MPI_ORDER_C), (Shape{24, 32}));
  EXPECT_EQ(shape_of_part({1, 1, 32}, MPI_ORDER_C), (Shape{32}));
  EXPECT_EQ(shape_of_part({20, 24, 4}, MPI_ORDER_FORTRAN), (Shape{4, 24, 20}));
  // Values of three numbers are rows that are three times as long.
  EXPECT_EQ(shape_of_part({20, 24, 32}, MPI_ORDER_C, 3), (Shape{20, 24, 96}));
  EXPECT_TRUE(rows_of(MPI_FLOAT).empty());
}

TEST(TypeBoxes, RowsOfArraysOfArraysAreTold) {
  constexpr std::array plane_sizes = {64, 80}, starts = {0, 0};
  constexpr std::array row = {80}, first = {0};
  constexpr std::array outer = {48, 64};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, plane_sizes.data(), plane_sizes.data(), starts.data(), MPI_ORDER_C, MPI_FLOAT,
                           &type);
  const Type plane(type);
  MPI_Type_contiguous(48, plane.get(), &type);
  const Type planes(type);
  MPI_Type_contiguous(80, MPI_FLOAT, &type);
  const Type line(type);
  MPI_Type_create_subarray(2, outer.data(), outer.data(), starts.data(), MPI_ORDER_C, line.get(), &type);
  const Type lines(type);
  MPI_Type_create_subarray(1, row.data(), row.data(), first.data(), MPI_ORDER_C, MPI_FLOAT, &type);
  const Type one(type);
  const std::vector<uint64_t> rows = {320, 20480};
  EXPECT_EQ(rows_of(planes.get()), rows);
  EXPECT_EQ(rows_of(lines.get()), rows);
  EXPECT_EQ(rows_of(plane.get()), std::vector<uint64_t>{320});
  // A list of values is no array.
  EXPECT_TRUE(rows_of(line.get()).empty());
  EXPECT_TRUE(rows_of(one.get()).empty());
}

using Shapes = std::vector<std::vector<uint64_t>>;

// The boxes of values `begin` and on of an array in a view, which follow each other.
Shapes shapes_of_run(const FileView& view, uint64_t origin, uint64_t begin, uint64_t values) {
  std::vector<FileBox> boxes;
  view.append_shaped(line_box(origin + 4 * begin, 4, values), boxes);
  Shapes shapes;
  uint64_t at = origin + 4 * begin;
  for (const FileBox& box : boxes) {
    EXPECT_TRUE(check_file_box(box).ok());
    EXPECT_TRUE(box.is_contiguous());
    EXPECT_EQ(box.first, at);
    at = box.end();
    shapes.emplace_back();
    for (const FileDirection& direction : box.used()) shapes.back().push_back(direction.count);
  }
  EXPECT_EQ(at, origin + 4 * (begin + values));
  return shapes;
}

TEST(TypeBoxes, RunsThatEndWithinRowsAreCutThere) {
  constexpr std::array sizes = {6, 200, 100}, starts = {0, 0, 0};
  constexpr uint64_t origin = 12;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes.data(), sizes.data(), starts.data(), MPI_ORDER_C, MPI_FLOAT, &type);
  const Type array(type);
  const auto view = FileView::of(origin, MPI_FLOAT, array.get());
  ASSERT_TRUE(view);
  EXPECT_EQ(shapes_of_run(*view, origin, 0, 120000), (Shapes{{6, 200, 100}}));
  EXPECT_EQ(shapes_of_run(*view, origin, 0, 600), (Shapes{{6, 100}}));
  EXPECT_EQ(shapes_of_run(*view, origin, 7, 600), (Shapes{{600}}));
  // The end of a row, the rows after it, planes, and some of the next one, which are too few to be cut.
  EXPECT_EQ(shapes_of_run(*view, origin, 7, 19993 + 40000 + 250),
            (Shapes{{93}, {199, 100}, {2, 200, 100}, {250}}));
  // Two arrays, one after another.
  EXPECT_EQ(shapes_of_run(*view, origin, 0, 240000), (Shapes{{2, 6, 200, 100}}));
}

TEST(TypeBoxes, WhatIsNoListOfBytesInOrderIsRefused) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const std::array backwards = {4, 0};
  MPI_Type_create_indexed_block(2, 1, backwards.data(), MPI_FLOAT, &type);
  EXPECT_FALSE(boxes_of(Type(type).get(), many));
  const std::array<MPI_Aint, 1> before = {-4};
  MPI_Type_create_hindexed_block(1, 1, before.data(), MPI_FLOAT, &type);
  EXPECT_FALSE(boxes_of(Type(type).get(), many));
  EXPECT_FALSE(boxes_of(MPI_DATATYPE_NULL, many));
  const std::array uneven = {0, 3, 4, 9, 11, 30};
  MPI_Type_create_indexed_block(6, 1, uneven.data(), MPI_FLOAT, &type);
  const Type list(type);
  EXPECT_FALSE(boxes_of(list.get(), 2));
  EXPECT_TRUE(boxes_of(list.get(), 5));
}

TEST(TypeBoxes, ElementsOfTypes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(elements_of(MPI_FLOAT), ElementKind::f32);
  EXPECT_EQ(elements_of(MPI_DOUBLE), ElementKind::f64);
  EXPECT_EQ(elements_of(MPI_INT), ElementKind::other);
  EXPECT_EQ(elements_of(MPI_DATATYPE_NULL), ElementKind::other);
  MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &type);
  const Type spread(type);
  EXPECT_EQ(elements_of(spread.get()), ElementKind::f64);
  const std::array lengths = {1, 1};
  const std::array<MPI_Aint, 2> places = {0, 500};
  const std::array alike = {spread.get(), MPI_DOUBLE}, mixed = {spread.get(), MPI_FLOAT};
  MPI_Type_create_struct(2, lengths.data(), places.data(), alike.data(), &type);
  EXPECT_EQ(elements_of(Type(type).get()), ElementKind::f64);
  MPI_Type_create_struct(2, lengths.data(), places.data(), mixed.data(), &type);
  EXPECT_EQ(elements_of(Type(type).get()), ElementKind::other);
  if (MPI_Type_create_f90_real(6, 30, &type) == MPI_SUCCESS) {
    EXPECT_EQ(elements_of(type), ElementKind::f32);
  }
}

}  // namespace
}  // namespace neve::pmpi
