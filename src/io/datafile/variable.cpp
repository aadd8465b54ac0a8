// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/variable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "io/datafile/values.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/stored_chunks.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;

Status read_filters(hid_t creation, Variable& variable) {
  const int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0;
    std::vector<unsigned> words(hdf5::max_words);
    size_t word_count = words.size();
    std::array<char, 64> name{};
    const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &word_count,
                                           words.data(), name.size(), name.data(), &config);
    if (id < 0) return corrupt(fmt::format("its filters cannot be read: {}", last_error()));
    name.back() = '\0';
    variable.filters.push_back(fmt::format("{} ({})", name[0] == '\0' ? "unnamed" : name.data(), id));
    if (!hdf5::is_neve_filter(id)) continue;
    if (word_count > words.size()) return corrupt("its Neve filter has too many parameters");
    words.resize(word_count);
    auto parameters = hdf5::parse_words(words);
    if (!parameters.ok()) return corrupt(parameters.status().message());
    variable.neve = std::move(*parameters);
  }
  return {};
}

Status describe(hid_t dataset, Variable& variable) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (!space.valid() || !type.valid() || !creation.valid()) {
    return corrupt(fmt::format("its header cannot be read: {}", last_error()));
  }
  variable.extent = H5Sget_simple_extent_type(space.id());
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank < 0) return corrupt(fmt::format("its extent cannot be read: {}", last_error()));
  std::vector<hsize_t> dims(static_cast<size_t>(rank)), most(static_cast<size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space.id(), dims.data(), most.data());
  variable.dims.assign(dims.begin(), dims.end());
  variable.max_dims.assign(most.begin(), most.end());
  variable.type = type_text(type.id());
  variable.element_bytes = H5Tget_size(type.id());
  variable.dtype = coded_type(type.id());
  const TypeTraits traits = type_traits(type.id());
  variable.has_pointers = traits.has_pointers;
  variable.has_references = traits.has_references;
  variable.layout = H5Pget_layout(creation.id());
  variable.is_external = variable.layout == H5D_CONTIGUOUS && H5Pget_external_count(creation.id()) > 0;
  if (variable.layout == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(static_cast<size_t>(rank));
    if (H5Pget_chunk(creation.id(), rank, chunk.data()) != rank) {
      return corrupt(fmt::format("its chunks cannot be read: {}", last_error()));
    }
    variable.chunk.assign(chunk.begin(), chunk.end());
  }
  uint64_t bytes = variable.element_bytes;
  for (const uint64_t size : variable.dims) {
    if (!__builtin_mul_overflow(bytes, size, &bytes)) continue;
    return corrupt(fmt::format("its {} elements of {} bytes; allowed are up to {} bytes in all",
                               fmt::join(variable.dims, " x "), variable.element_bytes, UINT64_MAX));
  }
  variable.stored_bytes = H5Dget_storage_size(dataset);
  NEVE_TRY(read_filters(creation.id(), variable));
  return hdf5::ChunkCheck(dataset).check_sizes();
}

Status no_selection() { return failure(fmt::format("a part of it cannot be selected: {}", last_error())); }

bool select_block(hid_t space, const Extent& first, const Extent& held) {
  const std::vector<hsize_t> start(first.begin(), first.end());
  const std::vector<hsize_t> count(held.begin(), held.end());
  return H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0;
}

// The elements in the file, and dense in memory.
struct Selection {
  Handle file, memory;
};

Result<Selection> select(hid_t dataset, const Extent& first, const Extent& held) {
  Selection selection;
  selection.file = Handle(H5Dget_space(dataset), H5Sclose);
  selection.memory = dense_space(held);
  if (!selection.file.valid() || !selection.memory.valid()) return no_selection();
  if (!held.empty() && !select_block(selection.file.id(), first, held)) return no_selection();
  return selection;
}

// HDF5 keeps some 7 KB for every chunk that one read touches.
constexpr uint64_t max_chunks_a_read = 4096;

// The largest part of `held`, whole along the fast dimensions, that touches few enough chunks.
Extent part_to_read(hid_t dataset, const Extent& held) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  std::vector<hsize_t> chunk(held.size());
  if (!creation.valid() || H5Pget_layout(creation.id()) != H5D_CHUNKED ||
      H5Pget_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data()) !=
          static_cast<int>(chunk.size())) {
    return held;
  }
  const Extent unit(chunk.begin(), chunk.end());
  const uint64_t chunks = ChunkGrid{held, unit}.count();
  return chunks <= max_chunks_a_read ? held : choose_chunk(held, unit, 1, max_chunks_a_read * product(unit));
}

}  // namespace

uint64_t Variable::raw_bytes() const { return extent == H5S_NULL ? 0 : product(dims) * element_bytes; }

std::optional<DType> coded_type(hid_t type) {
  const std::pair<hid_t, DType> coded[] = {{H5T_IEEE_F32LE, DType::f32}, {H5T_IEEE_F64LE, DType::f64},
                                           {H5T_STD_I8LE, DType::i8},    {H5T_STD_U8LE, DType::u8},
                                           {H5T_STD_I16LE, DType::i16},  {H5T_STD_U16LE, DType::u16},
                                           {H5T_STD_I32LE, DType::i32},  {H5T_STD_U32LE, DType::u32},
                                           {H5T_STD_I64LE, DType::i64},  {H5T_STD_U64LE, DType::u64}};
  for (const auto& [same, dtype] : coded) {
    if (H5Tequal(type, same) > 0) return dtype;
  }
  return {};
}

Result<Variable> describe_variable(hid_t dataset, const std::string& path) {
  Variable variable;
  variable.path = path;
  NEVE_TRY(describe(dataset, variable).in(path));
  return variable;
}

Handle dense_space(const Extent& held) {
  const std::vector<hsize_t> count(held.begin(), held.end());
  return Handle(held.empty() ? H5Screate(H5S_SCALAR)
                             : H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                H5Sclose);
}

Status check_filters(hid_t creation) {
  const int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0;
    size_t words = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &words, nullptr,
                                           name.size() - 1, name.data(), &config);
    if (id >= 0 && H5Zfilter_avail(id) > 0) continue;
    return {
        Code::plugin_missing,
        fmt::format("it is stored with HDF5 filter {} ({}), which HDF5 cannot find; put its plugin into a "
                    "folder named in HDF5_PLUGIN_PATH",
                    name[0] == '\0' ? "unnamed" : name.data(), id)};
  }
  return {};
}

Status read_elements(hid_t dataset, const Extent& first, const Extent& held, hid_t memory_type, void* out) {
  NEVE_ASSIGN(const Selection selection, select(dataset, first, held));
  const ChunkGrid parts{held, part_to_read(dataset, held)};
  hdf5::ChunkCheck chunks(dataset);
  for (uint64_t number = 0; number < parts.count(); ++number) {
    if (parts.count() > 1) {
      const Extent at = parts.first_element(number), part = parts.held(at);
      Extent in_file = first;
      for (size_t d = 0; d < at.size(); ++d) in_file[d] += at[d];
      if (!select_block(selection.file.id(), in_file, part) || !select_block(selection.memory.id(), at, part))
        return no_selection();
    }
    NEVE_TRY(chunks.check(selection.file.id()));
    if (H5Dread(dataset, memory_type, selection.memory.id(), selection.file.id(), H5P_DEFAULT, out) < 0) {
      const std::string reason = last_error();
      const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
      NEVE_TRY(check_filters(creation.id()));
      // Of a source of a virtual dataset, perhaps.
      const bool lacks_filter =
          reason.find("filter") != std::string::npos && reason.find("not registered") != std::string::npos;
      return {lacks_filter ? Code::plugin_missing : Code::corrupt, "cannot be read: " + reason};
    }
  }
  return {};
}

Status write_elements(hid_t dataset, const Extent& first, const Extent& held, hid_t memory_type,
                      const void* in) {
  NEVE_ASSIGN(const Selection selection, select(dataset, first, held));
  if (H5Dwrite(dataset, memory_type, selection.memory.id(), selection.file.id(), H5P_DEFAULT, in) < 0) {
    return failure("cannot be written: " + last_error());
  }
  return {};
}

}  // namespace neve::datafile
