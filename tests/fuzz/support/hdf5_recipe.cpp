// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/support/hdf5_recipe.hpp"

#include <algorithm>

namespace neve::fuzz {
namespace {

constexpr size_t max_records = 4096;
constexpr uint64_t max_members = 32;
constexpr uint64_t max_dims = 6;
constexpr uint64_t max_filters = 4;
constexpr uint64_t max_words = 64;
constexpr uint64_t max_chunks = 256;
constexpr uint8_t big_endian = 0x80;

// A number that may not exceed `most`, whatever the bytes say.
uint64_t get_count(ByteReader& in, uint64_t most) { return std::min(in.get_varint(), most); }

Bytes get_block(ByteReader& in) {
  const ByteSpan part = in.get_bytes(get_count(in, in.remaining()));
  return {part.begin(), part.end()};
}

std::string get_text(ByteReader& in) {
  const ByteSpan part = in.get_bytes(std::min<uint64_t>(in.get<uint8_t>(), in.remaining()));
  return {reinterpret_cast<const char*>(part.data()), part.size()};
}

void put_block(ByteSpan bytes, ByteWriter& out) {
  out.put_varint(bytes.size());
  out.put_bytes(bytes);
}

void put_text(const std::string& text, ByteWriter& out) {
  const size_t length = std::min<size_t>(text.size(), UINT8_MAX);
  out.put(static_cast<uint8_t>(length));
  out.put_bytes(text.data(), length);
}

ScalarType get_scalar(ByteReader& in) {
  const auto code = in.get<uint8_t>();
  ScalarType type;
  type.kind = static_cast<TypeKind>((code & ~big_endian) % type_kinds);
  type.is_big_endian = (code & big_endian) != 0;
  if (type.kind == TypeKind::text) type.text_bytes = in.get<uint16_t>();
  return type;
}

void put_scalar(const ScalarType& type, ByteWriter& out) {
  out.put(static_cast<uint8_t>(static_cast<uint8_t>(type.kind) | (type.is_big_endian ? big_endian : 0)));
  if (type.kind == TypeKind::text) out.put(type.text_bytes);
}

RecipeType get_type(ByteReader& in) {
  RecipeType type;
  type.scalar = get_scalar(in);
  if (type.scalar.kind != TypeKind::compound) return type;
  type.compound_bytes = in.get<uint16_t>();
  const uint64_t members = get_count(in, max_members);
  for (uint64_t m = 0; m < members && !in.failed(); ++m) {
    Member member;
    member.name = get_text(in);
    member.offset = in.get<uint16_t>();
    member.type = get_scalar(in);
    type.members.push_back(std::move(member));
  }
  return type;
}

void put_type(const RecipeType& type, ByteWriter& out) {
  put_scalar(type.scalar, out);
  if (type.scalar.kind != TypeKind::compound) return;
  out.put(type.compound_bytes);
  const size_t members = std::min<size_t>(type.members.size(), max_members);
  out.put_varint(members);
  for (size_t m = 0; m < members; ++m) {
    put_text(type.members[m].name, out);
    out.put(type.members[m].offset);
    put_scalar(type.members[m].type, out);
  }
}

std::vector<uint64_t> get_extent(ByteReader& in) {
  std::vector<uint64_t> extent(get_count(in, max_dims));
  for (uint64_t& size : extent) size = in.get_varint();
  return extent;
}

void put_extent(const std::vector<uint64_t>& extent, ByteWriter& out) {
  const size_t dims = std::min<size_t>(extent.size(), max_dims);
  out.put_varint(dims);
  for (size_t d = 0; d < dims; ++d) out.put_varint(extent[d]);
}

void get_storage(ByteReader& in, Record& record) {
  record.chunk = get_extent(in);
  record.filters.resize(get_count(in, max_filters));
  for (RecipeFilter& filter : record.filters) {
    filter.id = in.get<uint16_t>();
    filter.words.resize(get_count(in, max_words));
    for (uint32_t& word : filter.words) word = in.get<uint32_t>();
  }
  record.fill = get_block(in);
  record.chunks.resize(get_count(in, max_chunks));
  for (RecipeChunk& chunk : record.chunks) {
    chunk.filter_mask = in.get<uint8_t>();
    chunk.bytes = get_block(in);
  }
}

void put_storage(const Record& record, ByteWriter& out) {
  put_extent(record.chunk, out);
  const size_t filters = std::min<size_t>(record.filters.size(), max_filters);
  out.put_varint(filters);
  for (size_t f = 0; f < filters; ++f) {
    const RecipeFilter& filter = record.filters[f];
    const size_t words = std::min<size_t>(filter.words.size(), max_words);
    out.put(filter.id);
    out.put_varint(words);
    for (size_t w = 0; w < words; ++w) out.put(filter.words[w]);
  }
  put_block(record.fill, out);
  const size_t chunks = std::min<size_t>(record.chunks.size(), max_chunks);
  out.put_varint(chunks);
  for (size_t c = 0; c < chunks; ++c) {
    out.put(record.chunks[c].filter_mask);
    put_block(record.chunks[c].bytes, out);
  }
}

bool has_values(RecordKind kind) { return kind == RecordKind::dataset || kind == RecordKind::attribute; }

}  // namespace

Recipe parse_recipe(ByteSpan bytes) {
  ByteReader in(bytes);
  Recipe recipe;
  while (in.remaining() > 0 && recipe.size() < max_records) {
    Record record;
    record.kind = static_cast<RecordKind>(in.get<uint8_t>() % record_kinds);
    record.path = get_text(in);
    record.name = get_text(in);
    if (has_values(record.kind) || record.kind == RecordKind::named_type) record.type = get_type(in);
    if (has_values(record.kind)) {
      record.has_extent = in.get<uint8_t>() % 2 == 0;
      record.dims = get_extent(in);
      record.values = get_block(in);
    }
    if (record.kind == RecordKind::dataset) get_storage(in, record);
    recipe.push_back(std::move(record));
  }
  return recipe;
}

Bytes serialize_recipe(const Recipe& recipe) {
  Bytes bytes;
  ByteWriter out(bytes);
  for (const Record& record : recipe) {
    out.put(record.kind);
    put_text(record.path, out);
    put_text(record.name, out);
    if (has_values(record.kind) || record.kind == RecordKind::named_type) put_type(record.type, out);
    if (has_values(record.kind)) {
      out.put(static_cast<uint8_t>(record.has_extent ? 0 : 1));
      put_extent(record.dims, out);
      put_block(record.values, out);
    }
    if (record.kind == RecordKind::dataset) put_storage(record, out);
  }
  return bytes;
}

}  // namespace neve::fuzz
