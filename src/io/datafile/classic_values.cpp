// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/classic_values.hpp"

#include <algorithm>
#include <cstring>

namespace neve::datafile {
namespace {

// Records of little of a variable are read with what lies between them, this much at a time.
constexpr uint64_t block_bytes = uint64_t{1} << 20;
// A part of a record that is worth a read of its own.
constexpr uint64_t own_read_bytes = uint64_t{16} << 10;

}  // namespace

Status ClassicValues::overlay(uint64_t address, std::span<std::byte> out) const {
  const uint64_t end = address + out.size();
  auto chunk = std::upper_bound(chunks_.begin(), chunks_.end(), address,
                                [](uint64_t at, const ClassicChunk& c) { return at < c.address; });
  if (chunk != chunks_.begin()) --chunk;
  for (; chunk != chunks_.end() && chunk->address < end; ++chunk) {
    const uint64_t from = std::max(address, chunk->address);
    const uint64_t to = std::min(end, chunk->address + chunk->bytes);
    if (from >= to) continue;
    NEVE_TRY(read_chunk(*chunk, from - chunk->address, out.subspan(from - address, to - from)));
  }
  return {};
}

// Bytes [offset, offset + out.size()) of a chunk. HDF5 asks for whole values; parts of one are cut out.
Status ClassicValues::read_chunk(const ClassicChunk& chunk, uint64_t offset, std::span<std::byte> out) const {
  const ClassicVariable& variable = header_.variables[chunk.variable];
  const uint64_t value_bytes = classic_type_bytes(variable.type);
  std::fill(out.begin(), out.end(), std::byte{0});
  const uint64_t first = offset / value_bytes;
  const uint64_t end = std::min((offset + out.size() + value_bytes - 1) / value_bytes, chunk.values);
  if (first >= end) return {};
  const uint64_t head = offset - first * value_bytes;
  if (head == 0 && (end - first) * value_bytes <= out.size())
    return read_values(variable, chunk.first_value + first, out.first((end - first) * value_bytes));
  std::vector<std::byte> whole((end - first) * value_bytes);
  NEVE_TRY(read_values(variable, chunk.first_value + first, whole));
  std::memcpy(out.data(), whole.data() + head, std::min<uint64_t>(out.size(), whole.size() - head));
  return {};
}

// Values that follow each other in the variable's order, whole.
Status ClassicValues::read_values(const ClassicVariable& variable, uint64_t first,
                                  std::span<std::byte> out) const {
  const uint64_t value_bytes = classic_type_bytes(variable.type);
  uint64_t left = out.size() / value_bytes;
  std::span<std::byte> rest = out;
  while (left > 0) {
    const uint64_t record = first / variable.part_values, within = first % variable.part_values;
    if (within == 0 && left >= 2 * variable.part_values &&
        variable.part_values * value_bytes < own_read_bytes) {
      const uint64_t records = left / variable.part_values;
      const uint64_t values = records * variable.part_values;
      NEVE_TRY(read_records(variable, record, records, rest.first(values * value_bytes)));
      first += values, left -= values;
      rest = rest.subspan(values * value_bytes);
      continue;
    }
    const uint64_t values = std::min(left, variable.part_values - within);
    const uint64_t at = variable.begin + record * header_.record_bytes + within * value_bytes;
    NEVE_TRY(file_->read(static_cast<int64_t>(at), rest.first(values * value_bytes)));
    first += values, left -= values;
    rest = rest.subspan(values * value_bytes);
  }
  from_big_endian(out.data(), value_bytes, out.size() / value_bytes);
  return {};
}

// The variable's part of whole records, as the file has it.
Status ClassicValues::read_records(const ClassicVariable& variable, uint64_t record, uint64_t records,
                                   std::span<std::byte> out) const {
  const uint64_t part_bytes = out.size() / records;
  const uint64_t in_block = std::max<uint64_t>(block_bytes / header_.record_bytes, 1);
  std::vector<std::byte> block;
  for (uint64_t done = 0; done < records;) {
    const uint64_t taken = std::min(in_block, records - done);
    block.resize((taken - 1) * header_.record_bytes + part_bytes);
    const uint64_t at = variable.begin + (record + done) * header_.record_bytes;
    NEVE_TRY(file_->read(static_cast<int64_t>(at), block));
    for (uint64_t r = 0; r < taken; ++r) {
      std::memcpy(out.data() + (done + r) * part_bytes, block.data() + r * header_.record_bytes, part_bytes);
    }
    done += taken;
  }
  return {};
}

}  // namespace neve::datafile
