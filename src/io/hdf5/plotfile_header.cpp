// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/plotfile_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>
#include <system_error>

#include "core/amr/grow.hpp"
#include "io/hdf5/amr_file.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/chombo_checkpoint.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/external_files.hpp"
#include "io/hdf5/field_records.hpp"
#include "io/hdf5/filter_parameters.hpp"
#include "io/hdf5/header_parts.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/link_names.hpp"
#include "io/hdf5/object_address.hpp"
#include "io/hdf5/open_to_read.hpp"
#include "io/hdf5/paid_list.hpp"
#include "neve/limits.hpp"

namespace neve::hdf5 {
namespace {

// Ghosts around it have indices as well.
constexpr int32_t largest_corner = std::numeric_limits<int32_t>::max() - max_ghosts;

}  // namespace

bool has_link(hid_t where, const std::string& name) {
  return H5Lexists(where, name.c_str(), H5P_DEFAULT) > 0;
}

Result<Handle> open_group(hid_t where, const std::string& name) {
  if (!has_link(where, name)) return corrupt(fmt::format("group {} is missing", name));
  Handle group(H5Gopen2(where, name.c_str(), H5P_DEFAULT), H5Gclose);
  if (!group.valid()) return corrupt(fmt::format("group {} cannot be opened: {}", name, last_error()));
  return group;
}

namespace {

// Links of a group that are not among `known`, as paths.
Status list_others(hid_t group, const std::string& prefix, const std::vector<std::string>& known,
                   std::vector<std::string>* others) {
  NEVE_ASSIGN(const std::vector<std::string> names, link_names(group));
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) others->push_back(prefix + name);
  }
  return {};
}

// A one-dimensional dataset about to be read as a whole.
struct List {
  Handle dataset;
  Handle type;
  uint64_t count = 0;
};

Result<List> open_list(hid_t where, const std::string& name) {
  if (!has_link(where, name)) return corrupt(fmt::format("dataset {} is missing", name));
  List list;
  list.dataset = open_dataset_to_read(where, name);
  if (!list.dataset.valid()) {
    return corrupt(fmt::format("dataset {} cannot be opened: {}", name, last_error()));
  }
  list.type = Handle(H5Dget_type(list.dataset.id()), H5Tclose);
  const Handle space(H5Dget_space(list.dataset.id()), H5Sclose);
  if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) return list;  // an empty side file
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (H5Sget_simple_extent_ndims(space.id()) != 1 || count < 0) {
    return corrupt(fmt::format("dataset {} has {} dimensions; 1 is allowed", name,
                               H5Sget_simple_extent_ndims(space.id())));
  }
  list.count = static_cast<uint64_t>(count);
  return list;
}

Status check_paid_for(const List& list, const std::string& name, uint64_t before = 0) {
  return hdf5::check_paid_for(list.dataset.id(), name, list.count, H5Tget_size(list.type.id()), before);
}

Status read_list(const List& list, const std::string& name, hid_t memory_type, void* out) {
  if (list.count == 0) return {};
  NEVE_TRY(ChunkCheck(list.dataset.id()).check(H5S_ALL).in(fmt::format("dataset {}", name)));
  if (H5Dread(list.dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) {
    return corrupt(fmt::format("dataset {} cannot be read: {}", name, last_error()));
  }
  return {};
}

}  // namespace

Result<std::vector<Box>> read_boxes(hid_t group, int dims, uint64_t before) {
  NEVE_ASSIGN(const List list, open_list(group, boxes_name));
  NEVE_TRY(check_paid_for(list, boxes_name, before * H5Tget_size(list.type.id())));
  const Handle in_memory = box_type(dims, H5T_NATIVE_INT32);
  NEVE_TRY(check_compound(list.type.id(), in_memory.id()).in(fmt::format("dataset {}", boxes_name)));
  const auto corner_count = static_cast<size_t>(2 * dims);
  std::vector<int32_t> corners(list.count * corner_count);
  NEVE_TRY(read_list(list, boxes_name, in_memory.id(), corners.data()));
  std::vector<Box> boxes(list.count);
  for (size_t b = 0; b < boxes.size(); ++b) {
    const int32_t* box = corners.data() + b * corner_count;
    std::copy_n(box, dims, boxes[b].lo.begin());
    std::copy_n(box + dims, dims, boxes[b].hi.begin());
    if (std::any_of(box, box + corner_count,
                    [](int32_t c) { return c < -largest_corner || c > largest_corner; })) {
      return corrupt(
          fmt::format("dataset {}: a corner of box {} lies beyond {}", boxes_name, b, largest_corner));
    }
    int64_t cells = 0;
    if (!boxes[b].empty() && !count_elements(boxes[b], {0, 0, 0}, 1, &cells)) {
      return corrupt(fmt::format("dataset {}: box {} has more cells than 63 bits hold", boxes_name, b));
    }
  }
  return boxes;
}

Result<std::vector<int64_t>> read_offsets(hid_t group, const std::string& name) {
  NEVE_ASSIGN(const List list, open_list(group, name));
  NEVE_TRY(check_paid_for(list, name));
  if (H5Tget_class(list.type.id()) != H5T_INTEGER) {
    return corrupt(fmt::format("dataset {} does not hold integers", name));
  }
  std::vector<int64_t> offsets(list.count);
  NEVE_TRY(read_list(list, name, H5T_NATIVE_INT64, offsets.data()));
  return offsets;
}

namespace {

// AMReX writes nodes as boxes, too; only `boxcenter` tells.
Status check_cell_centred(hid_t group, int dims) {
  if (!has_attribute(group, "domain_type")) return {};
  NEVE_ASSIGN(const std::vector<int32_t> centring, read_ints(group, "level", "domain_type"));
  for (int d = 0; d < dims && d < static_cast<int>(centring.size()); ++d) {
    if (centring[static_cast<size_t>(d)] != 0) {
      return usage_error(fmt::format("fields are on nodes in direction {}; only cells are supported", d));
    }
  }
  return {};
}

Result<IntVect> read_ghosts(hid_t group, const std::string& name, int dims, size_t components) {
  IntVect ghosts{0, 0, 0};
  if (!has_link(group, name)) return ghosts;  // AMReX: never any
  NEVE_ASSIGN(const Handle attributes, open_group(group, name));
  if (has_attribute(attributes.id(), "comps")) {
    NEVE_ASSIGN(const int32_t comps, read_int(attributes.id(), name, "comps"));
    if (comps != static_cast<int32_t>(components)) {
      return corrupt(fmt::format("{} says {} components; {} are described", name, comps, components));
    }
  }
  if (!has_attribute(attributes.id(), "outputGhost")) return ghosts;
  NEVE_ASSIGN(ghosts, read_intvect_attribute(attributes.id(), name, "outputGhost", dims));
  for (int d = 0; d < dims; ++d) {
    if (ghosts[d] < 0 || ghosts[d] > max_ghosts) {
      return corrupt(
          fmt::format("outputGhost in direction {} is {}; 0 to {} are allowed", d, ghosts[d], max_ghosts));
    }
  }
  return ghosts;
}

Result<DType> element_type(hid_t type, const std::string& name) {
  const size_t bytes = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT && bytes == dtype_bytes(DType::f32)) return DType::f32;
  if (H5Tget_class(type) == H5T_FLOAT && bytes == dtype_bytes(DType::f64)) return DType::f64;
  return usage_error(
      fmt::format("dataset {} has HDF5 type class {} of {} bytes; floats of 4 or 8 are allowed", name,
                  static_cast<int>(H5Tget_class(type)), bytes));
}

std::vector<FilterName> read_filters(hid_t creation) {
  std::vector<FilterName> filters;
  const int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; ++i) {
    std::array<char, 64> name{};
    size_t words = 0;
    unsigned flags = 0;
    const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &words, nullptr,
                                           name.size() - 1, name.data(), nullptr);
    filters.push_back({id, name.data()});
  }
  return filters;
}

// Chunks that a box at a time would be decompressed again for every box: hold one whole chunk when it is
// not absurdly large.
uint64_t bytes_to_keep(hid_t where, const std::string& name) {
  const Handle probe(H5Dopen2(where, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!probe.valid()) return default_chunk_cache_bytes;
  const Handle creation(H5Dget_create_plist(probe.id()), H5Pclose);
  const Handle type(H5Dget_type(probe.id()), H5Tclose);
  hsize_t chunk = 0;
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED || H5Pget_chunk(creation.id(), 1, &chunk) != 1) {
    return default_chunk_cache_bytes;
  }
  constexpr uint64_t max_cache_bytes = uint64_t{256} << 20;
  return std::clamp<uint64_t>(chunk * H5Tget_size(type.id()), default_chunk_cache_bytes, max_cache_bytes);
}

Result<DType> open_data(hid_t group, const DatasetNames& names, LevelData* data) {
  data->name = names.data;
  if (!has_link(group, names.data)) {
    return corrupt(fmt::format("dataset {} is missing", names.data));
  }
  if (has_link(group, names.second_data)) {
    return usage_error(fmt::format("it has a dataset per component ({}); one dataset for all is supported",
                                   names.second_data));
  }
  data->dataset = open_dataset_to_read(group, names.data, bytes_to_keep(group, names.data));
  if (!data->dataset.valid()) {
    return corrupt(fmt::format("dataset {} cannot be opened: {}", names.data, last_error()));
  }
  data->chunks = std::make_shared<ChunkCheck>(data->dataset.id());
  const Handle type(H5Dget_type(data->dataset.id()), H5Tclose);
  const Handle space(H5Dget_space(data->dataset.id()), H5Sclose);
  const Handle creation(H5Dget_create_plist(data->dataset.id()), H5Pclose);
  const hssize_t elements = H5Sget_simple_extent_npoints(space.id());
  if (H5Sget_simple_extent_ndims(space.id()) != 1 || elements < 0) {
    return corrupt(fmt::format("dataset {} has {} dimensions; 1 is allowed", names.data,
                               H5Sget_simple_extent_ndims(space.id())));
  }
  data->elements = static_cast<uint64_t>(elements);
  hsize_t chunk = 0;
  if (H5Pget_layout(creation.id()) == H5D_CHUNKED && H5Pget_chunk(creation.id(), 1, &chunk) == 1) {
    data->chunk_elements = chunk;
  }
  data->stored_bytes = H5Dget_storage_size(data->dataset.id());
  data->filters = read_filters(creation.id());
  return element_type(type.id(), names.data);
}

}  // namespace

bool count_elements(const Box& box, const IntVect& ghosts, size_t components, int64_t* elements) {
  *elements = static_cast<int64_t>(components);
  for (int d = 0; d < max_dims; ++d) {
    if (box.size(d) < 1 ||
        __builtin_mul_overflow(*elements, box.size(d) + 2 * int64_t{ghosts[d]}, elements)) {
      return false;
    }
  }
  return true;
}

namespace {

// Boxes may lie in any order and Neve pads, but no two may share elements. What Chombo and AMReX write is
// packed, so where the file does not say its ghosts a gap means that there are some.
Status check_offsets(const Level& level, const LevelData& data, size_t components, bool packed,
                     const DatasetNames& names) {
  if (data.box_offsets.size() != level.boxes.size() + 1) {
    return corrupt(fmt::format("{} has {} entries for {} boxes; {} are needed", names.offsets,
                               data.box_offsets.size(), level.boxes.size(), level.boxes.size() + 1));
  }
  std::vector<size_t> order(level.boxes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return data.box_offsets[a] < data.box_offsets[b]; });
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t b = order[i];
    const int64_t begin = data.box_offsets[b];
    const bool is_last = i + 1 == order.size();
    const int64_t end = is_last ? static_cast<int64_t>(data.elements) : data.box_offsets[order[i + 1]];
    int64_t needed = 0;
    if (!count_elements(level.boxes[b], data.ghosts, components, &needed)) {
      return corrupt(fmt::format("box {} is empty or has more elements than 63 bits hold", b));
    }
    if (begin < 0 || begin > end || end - begin < needed || (packed && !is_last && end - begin != needed)) {
      return corrupt(fmt::format(
          "box {} begins at element {} and the next thing in {} at {}; its cells, ghosts and {} components "
          "need {} elements",
          b, begin, names.data, end, components, needed));
    }
  }
  return {};
}

// ------------------------------------------------------------------------------- Neve's own group

struct SideFiles {
  Hierarchy* into;
  uint64_t bytes = 0;         // of those read already: hard links may name one dataset many times
  std::set<haddr_t> folders;  // gone into: links may lead to one group on many ways
};

Status read_side_files(hid_t group, const std::string& prefix, int depth, SideFiles* side) {
  constexpr int deepest = 16;
  constexpr size_t max_side_files = 100000;
  NEVE_ASSIGN(const haddr_t address, object_address(group));
  if (!side->folders.insert(address).second) {
    return corrupt(fmt::format("side files: '{}' is a folder that also appears elsewhere", prefix));
  }
  const auto names = link_names(group);
  if (!names.ok()) return names.status().in("side files");
  for (const std::string& name : *names) {
    const std::string path = prefix.empty() ? name : prefix + "/" + name;
    const Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object.valid()) return corrupt(fmt::format("side file {}: {}", path, last_error()));
    if (H5Iget_type(object.id()) == H5I_GROUP) {
      if (depth >= deepest) return corrupt(fmt::format("side files: '{}' is nested too deep", path));
      NEVE_TRY(read_side_files(object.id(), path, depth + 1, side));
      continue;
    }
    if (side->into->side_files.size() >= max_side_files) {
      return corrupt(fmt::format("more than {} side files", max_side_files));
    }
    NEVE_ASSIGN(const List list, open_list(group, name));
    NEVE_TRY(check_paid_for(list, name, side->bytes));
    side->bytes += list.count;
    std::string bytes(list.count, '\0');
    NEVE_TRY(read_list(list, name, H5T_NATIVE_UINT8, bytes.data()).in("side files"));
    side->into->side_files[path] = std::move(bytes);
  }
  return {};
}

template <class T>
Status copy_exactly(const std::vector<T>& values, const char* name, std::array<T, max_dims>* out) {
  if (values.size() != max_dims) {
    return corrupt(fmt::format("attribute {} has {} values; {} are needed", name, values.size(), max_dims));
  }
  std::copy(values.begin(), values.end(), out->begin());
  return {};
}

Status read_neve_group(hid_t file, Hierarchy* h) {
  NEVE_ASSIGN(const Handle group, open_group(file, neve_name));
  NEVE_ASSIGN(const int32_t version, read_int(group.id(), neve_name, layout_version_name));
  if (version != layout_version) {
    return usage_error(fmt::format("{}/{} is {}; this Neve reads {}", neve_name, layout_version_name, version,
                                   layout_version));
  }
  NEVE_ASSIGN(const std::vector<double> lo, read_doubles(group.id(), neve_name, "prob_lo"));
  NEVE_ASSIGN(const std::vector<double> hi, read_doubles(group.id(), neve_name, "prob_hi"));
  NEVE_ASSIGN(const std::vector<int32_t> ghosts, read_ints(group.id(), neve_name, "source_ghosts"));
  NEVE_TRY(copy_exactly(lo, "prob_lo", &h->prob_lo));
  NEVE_TRY(copy_exactly(hi, "prob_hi", &h->prob_hi));
  NEVE_TRY(copy_exactly(ghosts, "source_ghosts", &h->source_ghosts));
  NEVE_ASSIGN(const Handle side_files, open_group(group.id(), side_files_name));
  SideFiles side{h, 0, {}};
  return read_side_files(side_files.id(), "", 0, &side);
}

// Beside the tools' attributes, or in /neve where those of Chombo stand alone.
Status read_exact_geometry(hid_t file, hid_t level_group, const std::string& place, Level* level) {
  Handle in_neve;
  hid_t group = level_group;
  if (!has_attribute(group, exact_dx_name)) {
    NEVE_ASSIGN(in_neve, open_group(file, std::string(neve_name) + "/" + place));
    group = in_neve.id();
  }
  NEVE_ASSIGN(const std::vector<double> dx, read_doubles(group, place, exact_dx_name));
  NEVE_ASSIGN(const std::vector<int32_t> ratio, read_ints(group, place, exact_ref_ratio_name));
  NEVE_TRY(copy_exactly(dx, exact_dx_name, &level->dx));
  return copy_exactly(ratio, exact_ref_ratio_name, &level->ref_ratio);
}

// ----------------------------------------------------------------------------- Chombo's and AMReX's

Result<std::vector<double>> first_doubles(hid_t group, const std::string& place, const std::string& name,
                                          int dims) {
  NEVE_ASSIGN(std::vector<double> values, read_doubles(group, place, name));
  if (values.size() < static_cast<size_t>(dims)) {
    return corrupt(
        fmt::format("{}: attribute {} has {} values; {} are needed", place, name, values.size(), dims));
  }
  return values;
}

// Chombo knows one cell size for all directions, AMReX adds Vec_dx.
Status read_cell_size(hid_t group, const std::string& place, int dims, Level* level) {
  if (has_attribute(group, "Vec_dx")) {
    NEVE_ASSIGN(const std::vector<double> dx, first_doubles(group, place, "Vec_dx", dims));
    std::copy_n(dx.begin(), dims, level->dx.begin());
    return {};
  }
  NEVE_ASSIGN(const double dx, read_double(group, place, "dx"));
  std::fill_n(level->dx.begin(), dims, dx);
  return {};
}

// A Chombo file has no origin: cell i begins at i * dx, which is where yt puts it, too.
Status read_physical_domain(hid_t level_0, Hierarchy* h) {
  const Level& level = h->levels.front();
  if (has_attribute(level_0, "prob_lo") && has_attribute(level_0, "prob_hi")) {
    NEVE_ASSIGN(const std::vector<double> lo, first_doubles(level_0, "level_0", "prob_lo", h->dims));
    NEVE_ASSIGN(const std::vector<double> hi, first_doubles(level_0, "level_0", "prob_hi", h->dims));
    std::copy_n(lo.begin(), h->dims, h->prob_lo.begin());
    std::copy_n(hi.begin(), h->dims, h->prob_hi.begin());
    return {};
  }
  for (int d = 0; d < h->dims; ++d) {
    h->prob_lo[d] = level.dx[d] * level.domain.lo[d];
    h->prob_hi[d] = level.dx[d] * (level.domain.hi[d] + 1.0);
  }
  return {};
}

}  // namespace

Result<Level> read_level_geometry(hid_t file, hid_t group, size_t l, size_t level_count,
                                  const PlotfileHeader& header) {
  const Hierarchy& h = header.hierarchy;
  const std::string place = level_name(l);
  Level level;
  NEVE_ASSIGN(level.domain, read_box_attribute(group, place, "prob_domain", h.dims));
  NEVE_TRY(check_cell_centred(group, h.dims).in(place));
  level.time = h.time;
  if (has_attribute(group, "time")) {
    NEVE_ASSIGN(level.time, read_double(group, place, "time"));
  }
  if (has_attribute(group, "steps")) {
    NEVE_ASSIGN(level.step, read_int(group, place, "steps"));
  } else if (has_attribute(file, "iteration")) {
    NEVE_ASSIGN(level.step, read_int(file, "the file", "iteration"));
  }
  if (header.written_by_neve) {
    NEVE_TRY(read_exact_geometry(file, group, place, &level));
  } else {
    NEVE_TRY(read_cell_size(group, place, h.dims, &level));
    if (l + 1 < level_count) {
      NEVE_ASSIGN(const int32_t ratio, read_int(group, place, "ref_ratio"));
      std::fill_n(level.ref_ratio.begin(), h.dims, ratio);
    }
  }
  uint64_t boxes_before = 0;
  for (const Level& other : h.levels) boxes_before += other.boxes.size();
  Result<std::vector<Box>> boxes = read_boxes(group, h.dims, boxes_before);
  if (!boxes.ok()) return boxes.status().in(place);
  level.boxes = std::move(*boxes);
  if (has_attribute(group, "ngrid")) {
    NEVE_ASSIGN(const int32_t ngrid, read_int(group, place, "ngrid"));
    if (ngrid < 0 || static_cast<size_t>(ngrid) != level.boxes.size()) {
      return corrupt(fmt::format("{}: ngrid says {} boxes, dataset {} holds {}", place, ngrid, boxes_name,
                                 level.boxes.size()));
    }
  }
  return level;
}

Result<FoundData> read_level_data(hid_t group, const DatasetNames& names, const Level& level, int dims,
                                  size_t components, bool packed) {
  FoundData found;
  NEVE_ASSIGN(found.data.box_offsets, read_offsets(group, names.offsets));
  NEVE_ASSIGN(found.data.ghosts, read_ghosts(group, names.attributes, dims, components));
  NEVE_ASSIGN(found.dtype, open_data(group, names, &found.data));
  NEVE_TRY(check_offsets(level, found.data, components, packed, names));
  return found;
}

namespace {

// All datasets of a file hold values of one type.
Status settle_type(const std::string& place, DType found, bool is_first, Hierarchy* h) {
  if (!is_first && found != h->dtype) {
    return usage_error(fmt::format("{} holds {} values, level_0 {}; all levels must have one type", place,
                                   dtype_name(found), dtype_name(h->dtype)));
  }
  h->dtype = found;
  return {};
}

bool says_ghosts(hid_t level_group) {
  if (!has_link(level_group, data_attributes_name)) return false;
  const Handle attributes(H5Gopen2(level_group, data_attributes_name, H5P_DEFAULT), H5Gclose);
  return attributes.valid() && has_attribute(attributes.id(), "outputGhost");
}

// Levels before the first without boxes, which nothing can be finer than.
Result<size_t> levels_with_boxes(hid_t file, size_t levels) {
  for (size_t l = 0; l < levels; ++l) {
    NEVE_ASSIGN(const Handle group, open_group(file, level_name(l)));
    auto boxes = open_list(group.id(), boxes_name);
    if (!boxes.ok()) return boxes.status().in(level_name(l));
    if (boxes->count == 0) return l;
  }
  return levels;
}

Status read_level(hid_t file, size_t l, size_t level_count, PlotfileHeader* header) {
  Hierarchy& h = header->hierarchy;
  const std::string place = level_name(l);
  NEVE_ASSIGN(const Handle group, open_group(file, place));
  NEVE_ASSIGN(Level level, read_level_geometry(file, group.id(), l, level_count, *header));
  const bool packed = !header->written_by_neve && !says_ghosts(group.id());
  Result<FoundData> found =
      read_level_data(group.id(), DatasetNames(plotfile_base), level, h.dims, h.components.size(), packed);
  if (!found.ok()) return found.status().in(place);
  NEVE_TRY(settle_type(place, found->dtype, l == 0, &h));
  LevelData data = std::move(found->data);
  NEVE_ASSIGN(data.fields, read_field_records(group.id(), place, field_table_name));
  if (!data.fields.empty() && data.fields.size() != h.components.size()) {
    return corrupt(fmt::format("{}/{} has {} rows for {} components", place, field_table_name,
                               data.fields.size(), h.components.size()));
  }
  NEVE_TRY(list_others(group.id(), place + "/",
                       {data_name, offsets_name, boxes_name, processors_name, data_attributes_name,
                        box_center_name, field_table_name,
                        // All zeros in our own files: it is there for yt only (skeleton.cpp).
                        header->written_by_neve ? particle_counts_name : field_table_name},
                       &header->left_behind));
  h.levels.push_back(std::move(level));
  header->levels.push_back(std::move(data));
  if (l == 0 && !header->written_by_neve) {
    NEVE_TRY(read_physical_domain(group.id(), &h));
    h.source_ghosts = header->levels.front().ghosts;
  }
  return {};
}

Result<int32_t> read_count(hid_t where, const std::string& place, const std::string& name, int32_t most) {
  NEVE_ASSIGN(const int32_t count, read_int(where, place, name));
  if (count < 1 || count > most) {
    return corrupt(fmt::format("{}: attribute {} is {}; 1 to {} are allowed", place, name, count, most));
  }
  return count;
}

// What stands before the levels. Gives the number of those.
Result<size_t> read_head(PlotfileHeader* header) {
  const hid_t file = header->file.id();
  Hierarchy& h = header->hierarchy;
  if (!has_link(file, global_name)) return no_amr_file(file);
  NEVE_ASSIGN(const Handle global, open_group(file, global_name));
  NEVE_ASSIGN(h.dims, read_count(global.id(), global_name, "SpaceDim", max_dims));
  NEVE_ASSIGN(const int32_t components, read_count(file, "the file", "num_components", max_components));
  NEVE_ASSIGN(const int32_t levels, read_count(file, "the file", "num_levels", max_levels));
  for (size_t c = 0; c < static_cast<size_t>(components); ++c) {
    NEVE_ASSIGN(std::string name, read_string(file, "the file", component_name(c)));
    h.components.push_back(std::move(name));
  }
  if (has_attribute(file, "time")) {
    NEVE_ASSIGN(h.time, read_double(file, "the file", "time"));
  }
  if (has_attribute(file, "coordinate_system")) {
    NEVE_ASSIGN(h.coord_sys, read_int(file, "the file", "coordinate_system"));
  }
  NEVE_ASSIGN(AmrFile is, recognize_amr_file(file));
  header->kind = amr_file_kind_name(is.kind);
  header->reason = std::move(is.reason);
  header->written_by_neve = has_link(file, neve_name);
  if (header->written_by_neve) NEVE_TRY(read_neve_group(file, &h));
  return static_cast<size_t>(levels);
}

Status read_file(PlotfileHeader* header) {
  const hid_t file = header->file.id();
  Hierarchy& h = header->hierarchy;
  NEVE_ASSIGN(const size_t all_levels, read_head(header));
  if (header->written_by_neve && has_link(file, std::string(neve_name) + "/" + variables_name)) {
    return usage_error("it is a checkpoint; a plotfile is needed");
  }
  NEVE_ASSIGN(const size_t levels, levels_with_boxes(file, all_levels));
  if (levels == 0) return corrupt("level_0 has no boxes");
  if (levels < all_levels) header->left_behind.push_back(level_name(levels) + "/, without boxes");
  std::vector<std::string> known = {global_name, neve_name};
  for (size_t l = 0; l < all_levels; ++l) known.push_back(level_name(l));
  NEVE_TRY(list_others(file, "", known, &header->left_behind));
  for (size_t l = 0; l < levels; ++l) {
    NEVE_TRY(read_level(file, l, levels, header));
  }
  if (!has_attribute(file, "time")) h.time = h.levels.front().time;
  const Status consistent = check_hierarchy(h);
  return consistent.ok() ? Status() : corrupt(consistent.message());
}

// ------------------------------------------------------------------------------------ checkpoints

Result<Variable> read_variable(hid_t all, size_t number) {
  const std::string place = fmt::format("{}/{}/{}", neve_name, variables_name, number);
  NEVE_ASSIGN(const Handle group, open_group(all, std::to_string(number)));
  Variable variable;
  NEVE_ASSIGN(variable.name, read_string(group.id(), place, "name"));
  NEVE_ASSIGN(const int32_t components, read_count(group.id(), place, "num_components", max_components));
  for (size_t c = 0; c < static_cast<size_t>(components); ++c) {
    NEVE_ASSIGN(std::string name, read_string(group.id(), place, component_name(c)));
    variable.components.push_back(std::move(name));
  }
  NEVE_ASSIGN(const int32_t compressed, read_int(group.id(), place, "compressed"));
  variable.compress = compressed != 0;
  NEVE_ASSIGN(const std::vector<int32_t> ghosts, read_ints(group.id(), place, "ghosts"));
  NEVE_TRY(copy_exactly(ghosts, "ghosts", &variable.ghosts).in(place));
  NEVE_ASSIGN(const std::string bound, read_string(group.id(), place, "bound"));
  Result<Bound> parsed = parse_bound(bound);
  if (!parsed.ok()) return corrupt(place + ": " + parsed.status().message());
  variable.bound = *parsed;
  NEVE_ASSIGN(const std::string codec, read_string(group.id(), place, "codec"));
  Result<Codec> parsed_codec = parse_codec(codec);
  if (!parsed_codec.ok()) return corrupt(place + ": " + parsed_codec.status().message());
  variable.codec = *parsed_codec;
  return variable;
}

Result<std::vector<Variable>> read_variables(hid_t file) {
  const std::string place = std::string(neve_name) + "/" + variables_name;
  if (!has_link(file, neve_name) || !has_link(file, place)) {
    return usage_error(fmt::format("a file without group {} is not a checkpoint of Neve", place));
  }
  NEVE_ASSIGN(const Handle all, open_group(file, place));
  NEVE_ASSIGN(const int32_t count, read_count(all.id(), place, "count", max_components));
  std::vector<Variable> variables;
  for (size_t v = 0; v < static_cast<size_t>(count); ++v) {
    NEVE_ASSIGN(Variable variable, read_variable(all.id(), v));
    variables.push_back(std::move(variable));
  }
  return variables;
}

// One variable's datasets of a level whose boxes are known.
Status read_variable_level(hid_t group, size_t l, const Variable& variable, Hierarchy* of_file, bool is_first,
                           PlotfileHeader* data) {
  const std::string place = level_name(l);
  const DatasetNames names(checkpoint_base(variable.name));
  const Level& level = of_file->levels[l];
  Result<FoundData> found =
      read_level_data(group, names, level, of_file->dims, variable.components.size(), false);
  if (!found.ok()) return found.status().in(place);
  if (found->data.ghosts != variable.ghosts) {
    return corrupt(fmt::format("{}: {} has other outputGhost than its variable", place, names.attributes));
  }
  if (found->data.holds_frames() != variable.compress) {
    return corrupt(fmt::format("{}: {} is {}compressed by Neve, its variable says otherwise", place,
                               names.data, variable.compress ? "not " : ""));
  }
  NEVE_TRY(settle_type(place + "/" + names.data, found->dtype, is_first, of_file));
  const std::string table = checkpoint_field_table(variable.name);
  NEVE_ASSIGN(found->data.fields, read_field_records(group, place, table));
  if (!found->data.fields.empty() && found->data.fields.size() != variable.components.size()) {
    return corrupt(fmt::format("{}/{} has {} rows for {} components", place, table, found->data.fields.size(),
                               variable.components.size()));
  }
  found->data.ghosts = {0, 0, 0};
  data->hierarchy.levels.push_back(level);
  data->levels.push_back(std::move(found->data));
  return {};
}

Status read_checkpoint_file(uint64_t file_bytes, CheckpointHeader* header) {
  PlotfileHeader whole;
  whole.file = std::move(header->file);
  const hid_t file = whole.file.id();
  NEVE_ASSIGN(header->variables, read_variables(file));
  NEVE_ASSIGN(const size_t levels, read_head(&whole));
  Hierarchy& h = whole.hierarchy;
  for (const Variable& variable : header->variables) {
    PlotfileHeader& data = header->data.emplace_back();
    data.hierarchy.components = variable.components;
    data.hierarchy.dims = h.dims;
    data.written_by_neve = true;
    data.file_bytes = file_bytes;
  }
  uint64_t lists = 0;  // bytes of all variables' boxes and offsets: several names may stand for one dataset
  for (size_t l = 0; l < levels; ++l) {
    NEVE_ASSIGN(const Handle group, open_group(file, level_name(l)));
    NEVE_ASSIGN(Level level, read_level_geometry(file, group.id(), l, levels, whole));
    lists += (level.boxes.size() + 1) * header->variables.size() * (sizeof(Box) + sizeof(int64_t));
    if (lists > max_list_bytes(file_bytes)) {
      return corrupt(fmt::format("{} variables of {} boxes on {} need lists that {} bytes cannot hold",
                                 header->variables.size(), level.boxes.size(), level_name(l), file_bytes));
    }
    h.levels.push_back(std::move(level));
    for (size_t v = 0; v < header->variables.size(); ++v) {
      NEVE_TRY(
          read_variable_level(group.id(), l, header->variables[v], &h, l == 0 && v == 0, &header->data[v]));
    }
  }
  const Status consistent = check_hierarchy(h);
  if (!consistent.ok()) return corrupt(consistent.message());
  for (size_t v = 0; v < header->variables.size(); ++v) {
    Hierarchy& of_variable = header->data[v].hierarchy;
    of_variable.dtype = h.dtype;
    // A box with its ghosts is a box as any other to those who read it.
    for (Level& level : of_variable.levels) amr::grow_boxes(level, header->variables[v].ghosts);
  }
  header->hierarchy = std::move(h);
  header->file = std::move(whole.file);
  return {};
}

Result<uint64_t> readable_size(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return failure(fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::fclose(file);
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) return failure(fmt::format("is not a regular file: {}", error.message()));
  return bytes;
}

}  // namespace

bool LevelData::holds_frames() const { return filters.size() == 1 && is_neve_filter(filters.front().id); }

namespace {

struct OpenedFile {
  Handle file;
  uint64_t bytes = 0;
};

Result<OpenedFile> open_file(const std::string& path) {
  OpenedFile opened;
  NEVE_ASSIGN(opened.bytes, readable_size(path));
  if (H5Fis_hdf5(path.c_str()) <= 0) return usage_error("is not an HDF5 file");
  NEVE_ASSIGN(opened.file, open_file_to_read(path));
  return opened;
}

Result<OpenedFile> open_own_file(const std::string& path, const OpenOptions& options) {
  Result<OpenedFile> opened = open_file(path);
  if (!opened.ok()) return opened.status().in(path);
  NEVE_TRY(check_external_files(opened->file.id(), path, ExternalLinks::followed, options, Reading::values));
  return opened;
}

}  // namespace

Status check_alive(const Handle& file) {
  if (file.is_alive()) return {};
  return usage_error(
      "MPI_Finalize has ended HDF5 and closed this file; read it before, or open it again afterwards");
}

Result<PlotfileHeader> read_plotfile_header(const std::string& path, const OpenOptions& options) {
  const QuietErrors quiet;
  NEVE_ASSIGN(OpenedFile opened, open_own_file(path, options));
  PlotfileHeader header;
  header.file_bytes = opened.bytes;
  header.file = std::move(opened.file);
  NEVE_TRY(read_file(&header).in(path));
  return header;
}

Result<CheckpointHeader> read_checkpoint_header(const std::string& path, const OpenOptions& options) {
  const QuietErrors quiet;
  NEVE_ASSIGN(OpenedFile opened, open_own_file(path, options));
  CheckpointHeader header;
  Result<AmrFile> is = recognize_amr_file(opened.file.id());
  if (!is.ok()) return is.status().in(path);
  header.is = std::move(*is);
  if (header.is.kind == AmrFileKind::chombo_checkpoint) {
    NEVE_TRY(read_chombo_checkpoint(std::move(opened.file), opened.bytes, &header).in(path));
    return header;
  }
  header.file = std::move(opened.file);
  NEVE_TRY(read_checkpoint_file(opened.bytes, &header).in(path));
  return header;
}

}  // namespace neve::hdf5
