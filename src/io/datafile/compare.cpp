// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "io/datafile/attributes.hpp"
#include "io/datafile/choice_log.hpp"
#include "io/datafile/contents.hpp"
#include "io/datafile/missing_values.hpp"
#include "io/datafile/stored_as_is.hpp"
#include "io/datafile/values.hpp"
#include "io/datafile/variable.hpp"
#include "io/datafile/written_blocks.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/external_files.hpp"
#include "io/hdf5/filter.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;

struct Side {
  std::string path;
  Handle file;
  Contents contents;
  std::map<std::string, const Entry*> by_path;

  ReferenceSpace references() const { return {file.id(), &contents.path_of}; }
};

Result<Side> open_side(const std::string& path, const OpenOptions& options) {
  Side side;
  side.path = path;
  NEVE_ASSIGN(side.file, open_source(path, options, hdf5::Reading::values));
  auto contents = list_contents(side.file.id());
  if (!contents.ok()) return contents.status().in(path);
  side.contents = std::move(*contents);
  for (const Entry& entry : side.contents.entries) side.by_path.emplace(entry.path, &entry);
  return side;
}

std::string limits_text(const Extent& most) {
  std::string text;
  for (const uint64_t size : most) {
    text += (text.empty() ? "" : ", ") +
            (size == H5S_UNLIMITED ? std::string("unlimited") : std::to_string(size));
  }
  return text;
}

Result<std::vector<std::byte>> fill_value(hid_t dataset, hid_t type, H5D_fill_value_t& defined) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  std::vector<std::byte> value;
  if (H5Pfill_value_defined(creation.id(), &defined) < 0) return corrupt("its fill value cannot be read");
  if (defined != H5D_FILL_VALUE_USER_DEFINED || type_traits(type).has_pointers) return value;
  value.resize(H5Tget_size(type));
  if (H5Pget_fill_value(creation.id(), type, value.data()) < 0)
    return corrupt("its fill value cannot be read");
  return value;
}

class Comparer {
 public:
  Comparer(const Side& a, const Side& b, const CompareValues& compare,
           const std::function<void(double)>& progress, const SkipValues& skip)
      : a_(a), b_(b), compare_(compare), progress_(progress), skip_(skip) {}

  Result<FileComparison> run() {
    size_t done = 0;
    for (const Entry& entry : a_.contents.entries) {
      NEVE_TRY(compare_entry(entry));
      progress_(static_cast<double>(++done) / static_cast<double>(a_.contents.entries.size()));
    }
    for (const Entry& entry : b_.contents.entries) {
      if (!a_.by_path.contains(entry.path) && !is_of_choice_log(entry.path))
        differ(entry.path, "is only in the copy");
    }
    return std::move(found_);
  }

 private:
  void differ(const std::string& path, const std::string& how) {
    found_.differences.push_back(path + " " + how);
  }

  Status compare_entry(const Entry& entry) {
    const auto other = b_.by_path.find(entry.path);
    if (other == b_.by_path.end()) {
      differ(entry.path, "is missing in the copy");
      return {};
    }
    const Entry& twin = *other->second;
    if (twin.kind != entry.kind || twin.target != entry.target || twin.target_file != entry.target_file) {
      differ(entry.path, "is another kind of object or link in the copy");
      return {};
    }
    const bool is_object = entry.kind == EntryKind::group || entry.kind == EntryKind::dataset ||
                           entry.kind == EntryKind::named_type;
    if (!is_object) return {};
    const Handle a = open_object(a_.file.id(), entry), b = open_object(b_.file.id(), entry);
    if (!a.valid() || !b.valid())
      return corrupt(fmt::format("{} cannot be opened: {}", entry.path, last_error()));
    NEVE_ASSIGN(const std::vector<std::string> attributes,
                compare_attributes(a.id(), b.id(), entry.path, a_.references(), b_.references()));
    found_.differences.insert(found_.differences.end(), attributes.begin(), attributes.end());
    if (entry.kind == EntryKind::named_type && H5Tequal(a.id(), b.id()) <= 0) {
      differ(entry.path, "is another type in the copy");
    }
    if (entry.kind != EntryKind::dataset) return {};
    return compare_datasets(a.id(), b.id(), entry.path).in(entry.path);
  }

  Status compare_datasets(hid_t a, hid_t b, const std::string& path) {
    NEVE_ASSIGN(const Variable of_a, describe_variable(a, path));
    NEVE_ASSIGN(const Variable of_b, describe_variable(b, path));
    const Handle type_a(H5Dget_type(a), H5Tclose), type_b(H5Dget_type(b), H5Tclose);
    if (of_a.extent != of_b.extent || of_a.dims != of_b.dims) {
      differ(path, fmt::format("has extent ({}) in the copy, not ({})", fmt::join(of_b.dims, ", "),
                               fmt::join(of_a.dims, ", ")));
      return {};
    }
    if (of_a.max_dims != of_b.max_dims) {
      differ(path, fmt::format("can grow to ({}) in the copy, not to ({})", limits_text(of_b.max_dims),
                               limits_text(of_a.max_dims)));
    }
    if (H5Tequal(type_a.id(), type_b.id()) <= 0) {
      differ(path, fmt::format("has type {} in the copy, not {}", of_b.type, of_a.type));
      return {};
    }
    H5D_fill_value_t defined_a = H5D_FILL_VALUE_UNDEFINED, defined_b = H5D_FILL_VALUE_UNDEFINED;
    NEVE_ASSIGN(const std::vector<std::byte> fill_a, fill_value(a, type_a.id(), defined_a));
    NEVE_ASSIGN(const std::vector<std::byte> fill_b, fill_value(b, type_b.id(), defined_b));
    if (defined_a != defined_b || fill_a != fill_b) differ(path, "has another fill value in the copy");
    if (skip_ && skip_(path)) return {};

    VariableComparison comparison;
    comparison.path = path;
    comparison.type = of_a.type;
    comparison.dims = of_a.dims;
    comparison.dtype = of_a.dtype;
    comparison.raw_bytes = of_a.raw_bytes();
    comparison.elements = of_a.element_bytes > 0 ? comparison.raw_bytes / of_a.element_bytes : 0;
    comparison.stored_bytes = of_b.stored_bytes;
    comparison.bound_abs = 0;
    if (of_b.neve && of_b.neve->bound.mode != BoundMode::lossless) {
      comparison.bound_abs =
          of_b.neve->bound.mode == BoundMode::abs ? std::optional(of_b.neve->bound.value) : std::nullopt;
    }
    if (of_a.dtype) say_missing(a, of_b, comparison);
    if (of_a.dtype) comparison.unwritten = fill_a;
    found_.variables.push_back(std::move(comparison));
    for (const std::string& what : hdf5::missing_sources(a, a_.path)) {
      found_.missing.push_back(fmt::format("{}: {}", path, what));
    }
    if (of_a.extent == H5S_NULL || of_a.raw_bytes() == 0) return {};
    return compare_values(a, b, of_a, of_b, type_a.id());
  }

  // What the original declares, unless the copy was told that no value means "nothing here".
  static void say_missing(hid_t a, const Variable& of_b, VariableComparison& comparison) {
    const bool was_told_none = of_b.neve && !of_b.neve->fill && !of_b.neve->detect_fill;
    if (!was_told_none) {
      DeclaredMissing declared = declared_missing(a);
      comparison.missing = std::move(declared.others);
      if (declared.fill) comparison.missing.fills.push_back(*declared.fill);
      comparison.nan_is_missing = declared.nan_is_missing;
    }
    if (of_b.neve) comparison.fill = of_b.neve->fill;
  }

  Status compare_values(hid_t a, hid_t b, const Variable& of_a, const Variable& of_b, hid_t type) {
    VariableComparison& comparison = found_.variables.back();
    const Handle creation(H5Dget_create_plist(a), H5Pclose);
    if (!check_filters(creation.id()).ok()) {
      NEVE_ASSIGN(const bool is_alike, stored_alike(a, of_a, b, of_b));
      if (is_alike) {
        comparison.dtype.reset();
        return {};
      }
    }
    Extent piece;
    if (!of_a.dims.empty()) {
      const Extent unit = of_b.chunk.empty() ? Extent(of_a.dims.size(), 1) : of_b.chunk;
      constexpr uint64_t piece_bytes = uint64_t{4} << 20;
      piece = choose_chunk(of_a.dims, unit, of_a.element_bytes, piece_bytes);
    }
    const ChunkGrid grid{of_a.dims, piece};
    // What neither has written is the fill value of both, which were compared.
    NEVE_ASSIGN(std::vector<ElementBlock> blocks, written_blocks(a, of_a));
    NEVE_ASSIGN(const std::vector<ElementBlock> blocks_b, written_blocks(b, of_b));
    blocks.insert(blocks.end(), blocks_b.begin(), blocks_b.end());
    PieceWalk pieces(grid, blocks);
    while (const auto number = pieces.next()) {
      const Extent first = grid.first_element(*number);
      const Extent held = grid.held(first);
      const Handle space = dense_space(held);
      NEVE_ASSIGN(Values values_a, Values::of(type, space.id()));
      NEVE_ASSIGN(Values values_b, Values::of(type, space.id()));
      NEVE_TRY(read_elements(a, first, held, type, values_a.data()).in(a_.path));
      NEVE_TRY(read_elements(b, first, held, type, values_b.data()).in(b_.path));
      if (comparison.dtype) {
        compare_(comparison, found_.variables.size() - 1, static_cast<const std::byte*>(values_a.data()),
                 static_cast<const std::byte*>(values_b.data()), values_a.count());
      } else {
        comparison.is_same &= equal_values(values_a, a_.references(), values_b, b_.references());
      }
    }
    return {};
  }

  const Side& a_;
  const Side& b_;
  const CompareValues& compare_;
  const std::function<void(double)>& progress_;
  const SkipValues& skip_;
  FileComparison found_;
};

}  // namespace

Result<FileComparison> compare_data_files(const std::string& original, const std::string& copy,
                                          const OpenOptions& options, const CompareValues& compare,
                                          const std::function<void(double)>& progress,
                                          const SkipValues& skip) {
  NEVE_TRY(hdf5::register_filter());
  const hdf5::QuietErrors quiet;
  NEVE_ASSIGN(const Side a, open_side(original, options));
  NEVE_ASSIGN(const Side b, open_side(copy, options));
  return Comparer(a, b, compare, progress, skip).run();
}

Result<std::vector<std::string>> changed_group_attributes(const std::string& original,
                                                          const std::string& copy,
                                                          const OpenOptions& options) {
  const hdf5::QuietErrors quiet;
  NEVE_ASSIGN(const Side a, open_side(original, options));
  NEVE_ASSIGN(const Side b, open_side(copy, options));
  std::vector<std::string> changed;
  for (const Entry& entry : a.contents.entries) {
    const auto twin = b.by_path.find(entry.path);
    if (entry.kind != EntryKind::group || twin == b.by_path.end() || twin->second->kind != EntryKind::group) {
      continue;
    }
    const Handle of_a(H5Gopen2(a.file.id(), entry.path.c_str(), H5P_DEFAULT), H5Gclose);
    const Handle of_b(H5Gopen2(b.file.id(), entry.path.c_str(), H5P_DEFAULT), H5Gclose);
    if (!of_a.valid() || !of_b.valid()) {
      return corrupt(fmt::format("{} cannot be opened: {}", entry.path, last_error()));
    }
    NEVE_ASSIGN(const std::vector<std::string> found,
                kept_attributes(of_a.id(), of_b.id(), entry.path, a.references(), b.references()));
    changed.insert(changed.end(), found.begin(), found.end());
  }
  return changed;
}

}  // namespace neve::datafile
