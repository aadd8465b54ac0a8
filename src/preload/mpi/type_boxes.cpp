// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/type_boxes.hpp"

#include <algorithm>
#include <utility>

#include "parallel/transfer/mpi_type.hpp"

namespace neve::pmpi {
namespace {

constexpr uint32_t max_run_bytes = uint32_t{1} << 30;

bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

// What MPI says of a type that is made of others. The types in it that are no predefined ones are freed.
class Contents {
 public:
  explicit Contents(MPI_Datatype type) {
    int n_numbers = 0, n_addresses = 0, n_types = 0;
#if MPI_VERSION >= 4
    MPI_Count many_numbers = 0, many_addresses = 0, large_counts = 0, many_types = 0;
    is_known_ = MPI_Type_get_envelope_c(type, &many_numbers, &many_addresses, &large_counts, &many_types,
                                        &combiner_) == MPI_SUCCESS &&
                large_counts == 0;
    n_numbers = static_cast<int>(many_numbers);
    n_addresses = static_cast<int>(many_addresses);
    n_types = static_cast<int>(many_types);
#else
    is_known_ = MPI_Type_get_envelope(type, &n_numbers, &n_addresses, &n_types, &combiner_) == MPI_SUCCESS;
#endif
    if (!is_known_ || is_leaf()) return;
    numbers_.resize(static_cast<size_t>(n_numbers) + 1);
    addresses_.resize(static_cast<size_t>(n_addresses) + 1);
    types_.resize(static_cast<size_t>(n_types), MPI_DATATYPE_NULL);
    is_known_ = n_types > 0 && MPI_Type_get_contents(type, n_numbers, n_addresses, n_types, numbers_.data(),
                                                     addresses_.data(), types_.data()) == MPI_SUCCESS;
    if (!is_known_) types_.clear();
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents() {
    for (MPI_Datatype& type : types_) free_derived(type);
  }

  bool is_known() const { return is_known_; }
  bool is_leaf() const { return is_predefined(combiner_); }
  int combiner() const { return combiner_; }
  int64_t number(size_t i) const { return numbers_[i]; }
  int64_t address(size_t i) const { return addresses_[i]; }
  const std::vector<MPI_Datatype>& types() const { return types_; }

 private:
  bool is_known_ = false;
  int combiner_ = MPI_COMBINER_NAMED;
  std::vector<int> numbers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Datatype> types_;
};

uint64_t size_of_type(MPI_Datatype type) {
  MPI_Count bytes = 0;
  return MPI_Type_size_x(type, &bytes) == MPI_SUCCESS && bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

int64_t extent_of_type(MPI_Datatype type) {
  MPI_Count lower = 0, extent = 0;
  return MPI_Type_get_extent_x(type, &lower, &extent) == MPI_SUCCESS ? static_cast<int64_t>(extent) : 0;
}

ElementKind kind_of_leaf(MPI_Datatype type, int combiner) {
  if (combiner == MPI_COMBINER_F90_REAL) {
    const uint64_t bytes = size_of_type(type);
    if (bytes == 4) return ElementKind::f32;
    return bytes == 8 ? ElementKind::f64 : ElementKind::other;
  }
  const auto dtype = mpi::dtype_of(type);
  if (dtype == DType::f32) return ElementKind::f32;
  return dtype == DType::f64 ? ElementKind::f64 : ElementKind::other;
}

// The longest runs, and no direction that adjoins another.
FileBox longest(const FileBox& box) {
  FileBox least = merged(box);
  if (least.ndim == 0) return least;
  const FileDirection& inner = least.directions[static_cast<size_t>(least.ndim - 1)];
  if (inner.stride != least.value_bytes || inner.count > max_run_bytes / least.value_bytes) return least;
  least.value_bytes *= static_cast<uint32_t>(inner.count);
  --least.ndim;
  least.directions[static_cast<size_t>(least.ndim)] = {};
  return least;
}

bool has_room(const FileBox& box) { return box.ndim < max_file_directions; }

void add_slowest(FileBox& box, FileDirection direction) {
  std::copy_backward(box.directions.begin(), box.directions.begin() + box.ndim,
                     box.directions.begin() + box.ndim + 1);
  box.directions[0] = direction;
  ++box.ndim;
}

// The slices of a box along its slowest direction.
FileBox slice_of(const FileBox& box) {
  FileBox slice = box;
  std::copy(box.directions.begin() + 1, box.directions.begin() + box.ndim, slice.directions.begin());
  --slice.ndim;
  slice.directions[static_cast<size_t>(slice.ndim)] = {};
  return slice;
}

bool are_alike(const FileBox& a, const FileBox& b) {
  return a.value_bytes == b.value_bytes && a.ndim == b.ndim && a.directions == b.directions;
}

// Whether `last` has become both.
bool join(FileBox& last, const FileBox& next) {
  if (last.ndim == 0 && next.ndim == 0 && last.first + last.value_bytes == next.first &&
      next.value_bytes <= max_run_bytes - last.value_bytes) {
    last.value_bytes += next.value_bytes;
    return true;
  }
  if (last.ndim == next.ndim + 1 && are_alike(slice_of(last), next) &&
      next.first == last.first + last.directions[0].count * last.directions[0].stride) {
    ++last.directions[0].count;
    return true;
  }
  if (!has_room(last) || !are_alike(last, next) || next.first < last.end()) return false;
  add_slowest(last, {2, next.first - last.first});
  return true;
}

// Directions of an array, the fastest first, by their number in the type's arguments.
std::vector<size_t> fastest_first(size_t ndim, int64_t order) {
  std::vector<size_t> directions(ndim);
  for (size_t i = 0; i < ndim; ++i) directions[i] = order == MPI_ORDER_FORTRAN ? i : ndim - 1 - i;
  return directions;
}

// Those in an element of an array, and the element itself where it is a row.
std::vector<uint64_t> rows_of_element(MPI_Datatype element) {
  constexpr uint64_t least_bytes = 64;  // of a row; what has fewer are the components of a value
  std::vector<uint64_t> rows = rows_of(element);
  const int64_t extent = extent_of_type(element);
  if (extent >= static_cast<int64_t>(least_bytes)) rows.push_back(static_cast<uint64_t>(extent));
  return rows;
}

// Of an array type whose sizes are its numbers from `sizes` on.
std::vector<uint64_t> rows_of_array(const Contents& contents, size_t ndim, size_t sizes, int64_t order) {
  const MPI_Datatype element = contents.types()[0];
  std::vector<uint64_t> rows = rows_of_element(element);
  int64_t stride = extent_of_type(element);
  for (const size_t d : fastest_first(ndim, order)) {
    stride *= contents.number(sizes + d);
    rows.push_back(static_cast<uint64_t>(stride));
  }
  rows.pop_back();  // from one array to the next
  return rows;
}

// Boxes of a type under way. Bytes before byte 0 are those of the greatest numbers, until all is done.
class Maker {
 public:
  explicit Maker(size_t most) : most_(most) {}

  // Whether the type can be told.
  bool add(MPI_Datatype type, std::vector<FileBox>& out) {
    const Contents contents(type);
    if (!contents.is_known()) return false;
    if (contents.is_leaf()) return add_leaf(type, out);
    switch (contents.combiner()) {
      case MPI_COMBINER_DUP:
      case MPI_COMBINER_RESIZED:
        return add(contents.types()[0], out);
      case MPI_COMBINER_CONTIGUOUS:
        return add_vector(contents, {contents.number(0), 1, extent_of_type(contents.types()[0])}, out);
      case MPI_COMBINER_VECTOR: {
        const int64_t stride = contents.number(2) * extent_of_type(contents.types()[0]);
        return add_vector(contents, {contents.number(0), contents.number(1), stride}, out);
      }
      case MPI_COMBINER_HVECTOR:
        return add_vector(contents, {contents.number(0), contents.number(1), contents.address(0)}, out);
      case MPI_COMBINER_INDEXED:
      case MPI_COMBINER_HINDEXED:
      case MPI_COMBINER_INDEXED_BLOCK:
      case MPI_COMBINER_HINDEXED_BLOCK:
        return add_indexed(contents, out);
      case MPI_COMBINER_STRUCT:
        return add_struct(contents, out);
      case MPI_COMBINER_SUBARRAY:
        return add_subarray(contents, out);
      case MPI_COMBINER_DARRAY:
        return add_darray(contents, out);
      default:
        return false;
    }
  }

 private:
  struct Blocks {
    int64_t count, length, stride;  // blocks; instances in each; bytes from one to the next
  };

  bool add_run(uint64_t first, uint64_t bytes, std::vector<FileBox>& out) {
    append_box(line_box(first, static_cast<uint32_t>(bytes), 1), out);
    return true;
  }

  bool add_leaf(MPI_Datatype type, std::vector<FileBox>& out) {
    const uint64_t bytes = size_of_type(type);
    if (bytes == 0) return true;
    if (bytes > max_run_bytes) return false;
    // Pairs of MPI_MINLOC: those with a gap between their parts, or behind them.
    const uint64_t of_int = sizeof(int);
    if (type == MPI_SHORT_INT) {
      return add_run(0, sizeof(short), out) && add_run(offsetof(ShortInt, index), of_int, out);
    }
    const bool is_pair = type == MPI_DOUBLE_INT || type == MPI_LONG_INT || type == MPI_LONG_DOUBLE_INT;
    if (!is_pair && static_cast<int64_t>(bytes) != extent_of_type(type)) return false;
    return add_run(0, bytes, out);
  }
  struct ShortInt {
    short value;
    int index;
  };

  // `part` so many times, at each stride.
  bool repeat(const std::vector<FileBox>& part, int64_t count, int64_t stride, std::vector<FileBox>& out) {
    if (count <= 0 || part.empty()) return true;
    if (part.size() == 1 && count > 1 && stride > 0 && has_room(part[0]) &&
        static_cast<uint64_t>(stride) >= part[0].span_bytes()) {
      FileBox box = part[0];
      add_slowest(box, {static_cast<uint64_t>(count), static_cast<uint64_t>(stride)});
      append_box(longest(box), out);
      return out.size() <= most_;
    }
    for (int64_t i = 0; i < count; ++i) {
      if (!shift(part, i * stride, out)) return false;
    }
    return true;
  }

  bool shift(const std::vector<FileBox>& part, int64_t by, std::vector<FileBox>& out) {
    for (FileBox box : part) {
      box.first += static_cast<uint64_t>(by);
      append_box(box, out);
      if (out.size() > most_) return false;
    }
    return true;
  }

  bool add_vector(const Contents& contents, const Blocks& blocks, std::vector<FileBox>& out) {
    const MPI_Datatype type = contents.types()[0];
    std::vector<FileBox> one, block;
    return add(type, one) && repeat(one, blocks.length, extent_of_type(type), block) &&
           repeat(block, blocks.count, blocks.stride, out);
  }

  bool add_indexed(const Contents& contents, std::vector<FileBox>& out) {
    const int combiner = contents.combiner();
    const bool is_of_blocks =
        combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const bool is_in_bytes = combiner == MPI_COMBINER_HINDEXED || combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const auto count = static_cast<size_t>(contents.number(0));
    const int64_t extent = extent_of_type(contents.types()[0]);
    std::vector<FileBox> one, block;
    if (!add(contents.types()[0], one)) return false;
    int64_t block_length = -1;
    for (size_t i = 0; i < count; ++i) {
      const int64_t length = contents.number(is_of_blocks ? 1 : 1 + i);
      const size_t in_numbers = is_of_blocks ? 2 + i : 1 + count + i;
      const int64_t at = is_in_bytes ? contents.address(i) : contents.number(in_numbers) * extent;
      if (length != block_length) {
        block.clear();
        if (!repeat(one, length, extent, block)) return false;
        block_length = length;
      }
      if (!shift(block, at, out)) return false;
    }
    return true;
  }

  bool add_struct(const Contents& contents, std::vector<FileBox>& out) {
    const auto count = static_cast<size_t>(contents.number(0));
    for (size_t i = 0; i < count; ++i) {
      const MPI_Datatype type = contents.types()[i];
      std::vector<FileBox> one, block;
      if (!add(type, one) || !repeat(one, contents.number(1 + i), extent_of_type(type), block) ||
          !shift(block, contents.address(i), out)) {
        return false;
      }
    }
    return true;
  }

  bool add_subarray(const Contents& contents, std::vector<FileBox>& out) {
    const auto ndim = static_cast<size_t>(contents.number(0));
    int64_t stride = extent_of_type(contents.types()[0]);
    std::vector<FileBox> part;
    if (!add(contents.types()[0], part)) return false;
    for (const size_t d : fastest_first(ndim, contents.number(1 + 3 * ndim))) {
      std::vector<FileBox> line, moved;
      if (!repeat(part, contents.number(1 + ndim + d), stride, line) ||
          !shift(line, contents.number(1 + 2 * ndim + d) * stride, moved)) {
        return false;
      }
      part = std::move(moved);
      stride *= contents.number(1 + d);
    }
    return shift(part, 0, out);
  }

  struct Distribution {
    int64_t kind, argument, size, processes, process;
  };

  // The indices of one process along a direction: blocks, and what is left of the last one.
  bool distribute(const std::vector<FileBox>& part, const Distribution& along, int64_t stride,
                  std::vector<FileBox>& out) {
    int64_t block = along.argument;
    if (along.kind == MPI_DISTRIBUTE_NONE) {
      block = along.size;
    } else if (block == MPI_DISTRIBUTE_DFLT_DARG) {
      block = along.kind == MPI_DISTRIBUTE_BLOCK ? (along.size + along.processes - 1) / along.processes : 1;
    }
    const int64_t round = along.kind == MPI_DISTRIBUTE_NONE ? block : block * along.processes;
    const int64_t start = along.kind == MPI_DISTRIBUTE_NONE ? 0 : block * along.process;
    if (block <= 0 || start >= along.size) return true;
    const int64_t whole = (along.size - start) / round;  // rounds in which the block is whole for certain
    const int64_t rest = std::min(block, along.size - start - whole * round);
    std::vector<FileBox> line, blocks, tail;
    if (!repeat(part, block, stride, line) || !repeat(line, whole, round * stride, blocks) ||
        !shift(blocks, start * stride, out)) {
      return false;
    }
    return rest <= 0 ||
           (repeat(part, rest, stride, tail) && shift(tail, (start + whole * round) * stride, out));
  }

  bool add_darray(const Contents& contents, std::vector<FileBox>& out) {
    const auto ndim = static_cast<size_t>(contents.number(2));
    // Processes are numbered as in C, whatever the order of the array.
    std::vector<int64_t> process(ndim);
    int64_t rest = contents.number(1);
    for (size_t d = ndim; d-- > 0;) {
      process[d] = rest % contents.number(3 + 3 * ndim + d);
      rest /= contents.number(3 + 3 * ndim + d);
    }
    int64_t stride = extent_of_type(contents.types()[0]);
    std::vector<FileBox> part;
    if (!add(contents.types()[0], part)) return false;
    for (const size_t d : fastest_first(ndim, contents.number(3 + 4 * ndim))) {
      const Distribution along{contents.number(3 + ndim + d), contents.number(3 + 2 * ndim + d),
                               contents.number(3 + d), contents.number(3 + 3 * ndim + d), process[d]};
      std::vector<FileBox> next;
      if (!distribute(part, along, stride, next)) return false;
      part = std::move(next);
      stride *= along.size;
    }
    return shift(part, 0, out);
  }

  size_t most_;
};

void join_last_two(std::vector<FileBox>& boxes) {
  while (boxes.size() > 1) {
    const FileBox& last = boxes.back();
    if (last.ndim == 0 || !join(boxes[boxes.size() - 2], last)) return;
    boxes.pop_back();
  }
}

}  // namespace

void free_derived(MPI_Datatype& type) {
  int numbers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  if (MPI_Type_get_envelope(type, &numbers, &addresses, &types, &combiner) != MPI_SUCCESS) return;
  if (!is_predefined(combiner)) MPI_Type_free(&type);
}

ElementKind elements_of(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return ElementKind::other;
  const Contents contents(type);
  if (!contents.is_known()) return ElementKind::other;
  if (contents.is_leaf()) return kind_of_leaf(type, contents.combiner());
  std::optional<ElementKind> all;
  for (const MPI_Datatype part : contents.types()) {
    if (size_of_type(part) == 0) continue;
    const ElementKind kind = elements_of(part);
    if (all && *all != kind) return ElementKind::other;
    all = kind;
  }
  return all.value_or(ElementKind::other);
}

void append_box(FileBox box, std::vector<FileBox>& boxes) {
  box = longest(box);
  if (boxes.empty() || !join(boxes.back(), box)) {
    boxes.push_back(box);
    return;
  }
  boxes.back() = longest(boxes.back());
  join_last_two(boxes);
}

std::vector<uint64_t> rows_of(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return {};
  const Contents contents(type);
  if (!contents.is_known() || contents.is_leaf()) return {};
  switch (contents.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return rows_of(contents.types()[0]);
    case MPI_COMBINER_CONTIGUOUS: {
      std::vector<uint64_t> rows = rows_of(contents.types()[0]);
      if (!rows.empty()) rows.push_back(static_cast<uint64_t>(extent_of_type(contents.types()[0])));
      return rows;
    }
    case MPI_COMBINER_SUBARRAY: {
      const auto ndim = static_cast<size_t>(contents.number(0));
      return rows_of_array(contents, ndim, 1, contents.number(1 + 3 * ndim));
    }
    case MPI_COMBINER_DARRAY: {
      const auto ndim = static_cast<size_t>(contents.number(2));
      return rows_of_array(contents, ndim, 3, contents.number(3 + 4 * ndim));
    }
    default:
      return {};
  }
}

void split_rows(std::span<const uint64_t> rows, FileBox& box) {
  for (const uint64_t row : rows) {
    for (size_t i = 0; i < static_cast<size_t>(box.ndim) && has_room(box); ++i) {
      const auto [count, stride] = box.directions[i];
      const uint64_t in_row = row / stride;
      if (row % stride != 0 || in_row < 2 || count <= in_row || count % in_row != 0) continue;
      std::copy_backward(box.directions.begin() + static_cast<ptrdiff_t>(i),
                         box.directions.begin() + box.ndim, box.directions.begin() + box.ndim + 1);
      box.directions[i] = {count / in_row, row};
      box.directions[i + 1] = {in_row, stride};
      ++box.ndim;
      break;
    }
  }
}

std::optional<TypeBoxes> boxes_of(MPI_Datatype type, size_t most) {
  if (type == MPI_DATATYPE_NULL) return {};
  TypeBoxes made;
  if (!Maker(most).add(type, made.boxes)) return {};
  const int64_t extent = extent_of_type(type);
  if (extent < 0) return {};
  made.extent = static_cast<uint64_t>(extent);
  uint64_t end = 0;
  for (const FileBox& box : made.boxes) {
    if (box.first < end || !check_file_box(box).ok()) return {};
    end = box.end();
    made.bytes += box.bytes();
  }
  if (made.bytes != size_of_type(type)) return {};
  return made;
}

bool cut_into_values(uint32_t value_bytes, size_t most, std::vector<FileBox>& boxes) {
  std::vector<FileBox> cut;
  for (const FileBox& box : std::exchange(boxes, {})) {
    if (box.value_bytes % value_bytes != 0) return false;
    std::vector<FileBox> parts = {box};
    const uint64_t in_run = box.value_bytes / value_bytes;
    if (in_run > 1 && !has_room(box)) {
      if (box.directions[0].count > most) return false;
      parts.assign(box.directions[0].count, slice_of(box));
      for (size_t i = 1; i < parts.size(); ++i) parts[i].first += i * box.directions[0].stride;
    }
    for (FileBox& part : parts) {
      part.value_bytes = value_bytes;
      if (in_run > 1) part.directions[static_cast<size_t>(part.ndim++)] = {in_run, value_bytes};
      cut.push_back(merged(part));
    }
    if (cut.size() > most) return false;
  }
  boxes = std::move(cut);
  return true;
}

std::vector<uint64_t> shape_of(std::vector<FileBox> boxes, std::span<const uint64_t> rows,
                               uint32_t value_bytes) {
  if (boxes.size() != 1 || !cut_into_values(value_bytes, 1, boxes) || boxes.size() != 1) return {};
  split_rows(rows, boxes[0]);
  std::vector<uint64_t> shape;
  for (const FileDirection& direction : boxes[0].used()) shape.push_back(direction.count);
  return shape;
}

}  // namespace neve::pmpi
