// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer's mutator for recipes: changes one thing of one record and lays the recipe out again, so that
// lengths stay right. One mutation in four is of the raw bytes.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>

#include "io/hdf5/filter_ids.hpp"
#include "tests/fuzz/support/hdf5_recipe.hpp"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace neve::fuzz {
namespace {

using Random = std::minstd_rand;

size_t pick(Random& random, size_t count) { return count == 0 ? 0 : random() % count; }

void mutate_bytes(Bytes& bytes, size_t most) {
  const size_t size = bytes.size();
  bytes.resize(std::max(most, size));
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), size, bytes.size()));
}

void mutate_text(std::string& text) {
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  Bytes bytes(first, first + text.size());
  mutate_bytes(bytes, text.size() + 8);
  text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

uint64_t other_size(Random& random, uint64_t size) {
  constexpr std::array<uint64_t, 8> sizes = {
      0, 1, 2, uint64_t{1} << 16, 1ULL << 31, 1ULL << 40, 1ULL << 62, std::numeric_limits<uint64_t>::max()};
  switch (pick(random, 4)) {
    case 0:
      return sizes[pick(random, sizes.size())];
    case 1:
      return size * 2;
    case 2:
      return size - 1;
    default:
      return size + 1;
  }
}

void mutate_extent(Random& random, std::vector<uint64_t>& extent) {
  const size_t way = pick(random, 8);
  if (extent.empty() || way == 0) {
    extent.insert(extent.begin() + static_cast<std::ptrdiff_t>(pick(random, extent.size() + 1)),
                  1 + pick(random, 8));
  } else if (way == 1) {
    extent.erase(extent.begin() + static_cast<std::ptrdiff_t>(pick(random, extent.size())));
  } else {
    uint64_t& size = extent[pick(random, extent.size())];
    size = other_size(random, size);
  }
}

// One number of the values, at a place where one of its type lies.
void mutate_number(Random& random, Bytes& values) {
  constexpr std::array<size_t, 4> widths = {1, 2, 4, 8};
  const size_t width = widths[pick(random, widths.size())];
  if (values.size() < width) return;
  std::byte* const at = values.data() + pick(random, values.size() / width) * width;
  uint64_t number = 0;
  std::memcpy(&number, at, width);
  constexpr std::array<int64_t, 6> numbers = {0,
                                              -1,
                                              1,
                                              std::numeric_limits<int32_t>::max(),
                                              std::numeric_limits<int32_t>::min(),
                                              std::numeric_limits<int64_t>::max()};
  switch (pick(random, 3)) {
    case 0:
      number = static_cast<uint64_t>(numbers[pick(random, numbers.size())]);
      break;
    case 1:
      number += pick(random, 9);
      break;
    default:
      number -= pick(random, 9);
  }
  std::memcpy(at, &number, width);
}

void mutate_type(Random& random, RecipeType& type) {
  if (!type.members.empty() && pick(random, 4) != 0) {
    Member& member = type.members[pick(random, type.members.size())];
    switch (pick(random, 3)) {
      case 0:
        return mutate_text(member.name);
      case 1:
        member.offset = static_cast<uint16_t>(other_size(random, member.offset));
        return;
      default:
        member.type.kind = static_cast<TypeKind>(pick(random, type_kinds));
        return;
    }
  }
  switch (pick(random, 3)) {
    case 0:
      type.scalar.kind = static_cast<TypeKind>(pick(random, type_kinds));
      return;
    case 1:
      type.scalar.is_big_endian = !type.scalar.is_big_endian;
      return;
    default:
      type.scalar.text_bytes = static_cast<uint16_t>(other_size(random, type.scalar.text_bytes));
  }
}

void mutate_filters(Random& random, std::vector<RecipeFilter>& filters) {
  constexpr uint16_t neve = hdf5::neve_filter_id;
  constexpr std::array<uint16_t, 6> ids = {1, 2, 3, 6, neve, 32000};
  if (filters.empty() || pick(random, 4) == 0) {
    filters.push_back({ids[pick(random, ids.size())], {1}});
  } else if (pick(random, 4) == 0) {
    filters.pop_back();
  } else {
    std::vector<uint32_t>& words = filters[pick(random, filters.size())].words;
    if (words.empty() || pick(random, 4) == 0) {
      words.push_back(static_cast<uint32_t>(other_size(random, 1)));
    } else {
      uint32_t& word = words[pick(random, words.size())];
      word = static_cast<uint32_t>(other_size(random, word));
    }
  }
}

void mutate_record(Random& random, Record& record) {
  constexpr size_t more_bytes = 64;
  switch (pick(random, 12)) {
    case 0:
      return mutate_text(record.path);
    case 1:
      return mutate_text(record.name);
    case 2:
      return mutate_type(random, record.type);
    case 3:
      return mutate_extent(random, record.dims);
    case 4:
      if (record.kind == RecordKind::dataset) return mutate_extent(random, record.chunk);
      record.has_extent = pick(random, 8) != 0;
      return;
    case 5:
      if (record.kind == RecordKind::dataset) return mutate_filters(random, record.filters);
      [[fallthrough]];
    case 6:
    case 7:
      return mutate_number(random, record.values);
    case 8:
    case 9:
    case 10:
      if (!record.chunks.empty()) {
        RecipeChunk& chunk = record.chunks[pick(random, record.chunks.size())];
        return mutate_bytes(chunk.bytes, chunk.bytes.size() + more_bytes);
      }
      [[fallthrough]];
    default:
      return mutate_bytes(record.values, record.values.size() + more_bytes);
  }
}

void mutate_recipe(Random& random, Recipe& recipe) {
  const size_t number = pick(random, recipe.size());
  const auto at = recipe.begin() + static_cast<std::ptrdiff_t>(number);
  switch (pick(random, 16)) {
    case 0:
      recipe.erase(at);
      return;
    case 1: {
      Record copy = *at;
      mutate_text(copy.path);
      recipe.insert(at, std::move(copy));
      return;
    }
    case 2:
      std::swap(*at, recipe[pick(random, recipe.size())]);
      return;
    case 3:
      at->kind = static_cast<RecordKind>(pick(random, record_kinds));
      return;
    default:
      return mutate_record(random, *at);
  }
}

}  // namespace
}  // namespace neve::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  using namespace neve::fuzz;
  Random random(seed + 1);
  if (pick(random, 4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  Recipe recipe = parse_recipe(std::as_bytes(std::span(data, size)));
  if (recipe.empty()) return LLVMFuzzerMutate(data, size, max_size);
  for (size_t changes = 1 + pick(random, 3); changes > 0 && !recipe.empty(); --changes) {
    mutate_recipe(random, recipe);
  }
  const neve::Bytes bytes = serialize_recipe(recipe);
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy_n(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), data);
  return bytes.size();
}
