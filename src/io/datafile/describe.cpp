// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/describe.hpp"

#include <fmt/format.h>

#include "io/datafile/choice_log.hpp"
#include "io/datafile/contents.hpp"
#include "io/datafile/netcdf_names.hpp"
#include "io/hdf5/errors.hpp"
#include "io/plotfile/file.hpp"
#include "io/plotfile/open.hpp"

namespace neve::datafile {

using hdf5::Handle;

bool has_choice_log(const std::string& path) {
  const hdf5::QuietErrors quiet;
  const auto file = open_source(path, {}, hdf5::Reading::structure);
  return file.ok() && H5Lexists(file->id(), choices_group, H5P_DEFAULT) > 0;
}

Result<FileDescription> describe_data_file(const std::string& path, const OpenOptions& options) {
  const hdf5::QuietErrors quiet;
  NEVE_ASSIGN(const Handle file, open_source(path, options, hdf5::Reading::structure));
  NEVE_ASSIGN(const plotfile::FileKind kind, plotfile::detect_kind(path));
  const bool is_classic = kind == plotfile::FileKind::netcdf_classic;
  NEVE_ASSIGN(const auto raw, plotfile::File::open(path));
  auto contents = list_contents(file.id());
  if (!contents.ok()) return contents.status().in(path);
  FileDescription description;
  description.file_bytes = static_cast<uint64_t>(raw->size_bytes());
  for (const Entry& entry : contents->entries) {
    if (is_of_choice_log(entry.path)) {
      description.has_choice_log = true;
      continue;
    }
    description.groups += entry.kind == EntryKind::group && entry.path != "/";
    description.named_types += entry.kind == EntryKind::named_type;
    description.links += entry.kind == EntryKind::hard_link || entry.kind == EntryKind::soft_link ||
                         entry.kind == EntryKind::external_link;
    if (entry.kind != EntryKind::dataset) continue;
    const Handle dataset(H5Dopen2(file.id(), entry.path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) {
      return corrupt(fmt::format("{}: {} cannot be opened: {}", path, entry.path, hdf5::last_error()));
    }
    auto variable = describe_variable(dataset.id(), entry.path);
    if (!variable.ok()) return variable.status().in(path);
    if (variable->dims.size() == 1 && is_bare_dimension(dataset.id())) {
      description.dimensions.push_back(
          {variable->path, variable->dims[0], variable->max_dims[0] == H5S_UNLIMITED});
      continue;
    }
    if (is_classic) variable->chunk.clear();  // those in which its values are read
    std::optional<FrameSurvey> frames;
    if (variable->neve) {
      auto surveyed = survey_frames(dataset.id(), *variable);
      if (!surveyed.ok()) return surveyed.status().in(entry.path).in(path);
      frames = std::move(*surveyed);
    }
    description.variables.push_back(std::move(*variable));
    description.frames.push_back(std::move(frames));
  }
  return description;
}

}  // namespace neve::datafile
