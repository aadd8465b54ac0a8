// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "io/datafile/attributes.hpp"
#include "io/datafile/model_grids.hpp"
#include "io/datafile/netcdf_names.hpp"
#include "io/hdf5/errors.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;

const char* kind_text(GridKind kind) {
  switch (kind) {
    case GridKind::coordinate:
      return "coordinate";
    case GridKind::time:
      return "time";
    case GridKind::bounds:
      return "cell bounds";
    case GridKind::vertical:
      return "vertical coordinate";
    case GridKind::grid_mapping:
      return "grid mapping";
    case GridKind::cell_measure:
      return "cell measure";
    case GridKind::ancillary:
      return "ancillary variable";
    case GridKind::flags:
      return "flags";
    case GridKind::mesh:
      return "mesh";
    case GridKind::model:
      break;
  }
  return "grid variable";
}

// What the words of an attribute that names variables mean: all are names; keys with a colon stand before
// names ("area: areacella"); or the keys are names themselves ("crs: x y").
enum class Words : uint8_t { names, keyed, names_and_keys };

struct NamingAttribute {
  const char* name;
  GridKind kind;
  Words words = Words::names;
};

// CF, and what was there before it: `associate` (GDT), `A_var` and the like (NCAR-CSM); `_Coordinate...` of
// Unidata's Common Data Model; `time` of ROMS, whose fields each name their clock.
constexpr NamingAttribute naming_attributes[] = {
    {"coordinates", GridKind::coordinate},
    {"_CoordinateAxes", GridKind::coordinate},
    {"associate", GridKind::coordinate},
    {"coordinate_interpolation", GridKind::coordinate, Words::names_and_keys},
    {"tie_point_mapping", GridKind::coordinate, Words::keyed},
    {"bounds", GridKind::bounds},
    {"climatology", GridKind::bounds},
    {"time", GridKind::time},
    {"bounds_tie_points", GridKind::bounds},
    {"formula_terms", GridKind::vertical, Words::keyed},
    {"A_var", GridKind::vertical},
    {"B_var", GridKind::vertical},
    {"P0_var", GridKind::vertical},
    {"PS_var", GridKind::vertical},
    {"grid_mapping", GridKind::grid_mapping, Words::names_and_keys},
    {"cell_measures", GridKind::cell_measure, Words::keyed},
    {"ancillary_variables", GridKind::ancillary},
    {"geometry", GridKind::mesh},
    {"node_count", GridKind::mesh},
    {"part_node_count", GridKind::mesh},
    {"interior_ring", GridKind::mesh},
    {"mesh", GridKind::mesh},
    {"grid", GridKind::mesh},
    {"node_coordinates", GridKind::mesh},
    {"edge_coordinates", GridKind::mesh},
    {"edge1_coordinates", GridKind::mesh},
    {"edge2_coordinates", GridKind::mesh},
    {"edge3_coordinates", GridKind::mesh},
    {"face_coordinates", GridKind::mesh},
    {"face1_coordinates", GridKind::mesh},
    {"face2_coordinates", GridKind::mesh},
    {"face3_coordinates", GridKind::mesh},
    {"volume_coordinates", GridKind::mesh},
    {"layer_coordinates", GridKind::mesh},
    {"face_node_connectivity", GridKind::mesh},
    {"face_edge_connectivity", GridKind::mesh},
    {"face_face_connectivity", GridKind::mesh},
    {"edge_node_connectivity", GridKind::mesh},
    {"edge_face_connectivity", GridKind::mesh},
    {"boundary_node_connectivity", GridKind::mesh},
    {"volume_node_connectivity", GridKind::mesh},
    {"volume_edge_connectivity", GridKind::mesh},
    {"volume_face_connectivity", GridKind::mesh},
    {"volume_volume_connectivity", GridKind::mesh},
    {"volume_shape_type", GridKind::mesh},
    {"location_index_set", GridKind::mesh},
};

// Attributes that only a variable of the grid has, whatever they say.
struct TellingAttribute {
  const char* name;
  GridKind kind;
};
constexpr TellingAttribute telling_attributes[] = {
    {"calendar", GridKind::time},
    {"bounds", GridKind::coordinate},
    {"climatology", GridKind::coordinate},
    {"formula_terms", GridKind::vertical},
    {"compress", GridKind::coordinate},
    {"_CoordinateAxisType", GridKind::coordinate},
    {"_CoordinateZisPositive", GridKind::vertical},
    {"_CoordinateTransformType", GridKind::grid_mapping},
    {"flag_values", GridKind::flags},
    {"flag_masks", GridKind::flags},
    {"flag_meanings", GridKind::flags},
    {"grid_mapping_name", GridKind::grid_mapping},
    {"geometry_type", GridKind::mesh},
    {"cf_role", GridKind::mesh},
    {"topology_dimension", GridKind::mesh},
    {"interpolation_name", GridKind::coordinate},
};

// Quantities such as height or air_pressure are left to the other signs: fields have these names as well.
constexpr std::array standard_names = {
    std::pair{"latitude", GridKind::coordinate},
    std::pair{"longitude", GridKind::coordinate},
    std::pair{"grid_latitude", GridKind::coordinate},
    std::pair{"grid_longitude", GridKind::coordinate},
    std::pair{"projection_x_coordinate", GridKind::coordinate},
    std::pair{"projection_y_coordinate", GridKind::coordinate},
    std::pair{"projection_x_angular_coordinate", GridKind::coordinate},
    std::pair{"projection_y_angular_coordinate", GridKind::coordinate},
    std::pair{"model_level_number", GridKind::coordinate},
    std::pair{"realization", GridKind::coordinate},
    std::pair{"region", GridKind::coordinate},
    std::pair{"area_type", GridKind::coordinate},
    std::pair{"time", GridKind::time},
    std::pair{"forecast_reference_time", GridKind::time},
    std::pair{"forecast_period", GridKind::time},
    std::pair{"atmosphere_ln_pressure_coordinate", GridKind::vertical},
    std::pair{"atmosphere_sigma_coordinate", GridKind::vertical},
    std::pair{"atmosphere_hybrid_sigma_pressure_coordinate", GridKind::vertical},
    std::pair{"atmosphere_hybrid_height_coordinate", GridKind::vertical},
    std::pair{"atmosphere_sleve_coordinate", GridKind::vertical},
    std::pair{"ocean_sigma_coordinate", GridKind::vertical},
    std::pair{"ocean_s_coordinate", GridKind::vertical},
    std::pair{"ocean_s_coordinate_g1", GridKind::vertical},
    std::pair{"ocean_s_coordinate_g2", GridKind::vertical},
    std::pair{"ocean_sigma_z_coordinate", GridKind::vertical},
    std::pair{"ocean_double_sigma_coordinate", GridKind::vertical},
    std::pair{"cell_area", GridKind::cell_measure},
    std::pair{"land_binary_mask", GridKind::flags},
    std::pair{"sea_binary_mask", GridKind::flags},
    std::pair{"status_flag", GridKind::flags},
    std::pair{"quality_flag", GridKind::flags},
};

// CF's spellings of the units of latitude and longitude, which people also write with capitals and spaces.
constexpr std::array degree_units = {"degrees_north", "degree_north", "degrees_n",    "degree_n",
                                     "degreesn",      "degreen",      "degrees_east", "degree_east",
                                     "degrees_e",     "degree_e",     "degreese",     "degreee",
                                     "degrees_south", "degree_south", "degrees_west", "degree_west"};
// UDUNITS' words between a unit and the moment that it counts from.
constexpr std::array since_words = {"since", "after", "from", "ref", "@"};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_clock(const std::vector<std::string>& words) {
  if (words.size() < 3) return false;
  const std::string link = lower(words[1]);
  if (link == "as") return words[2].front() == '%';  // "day as %Y%m%d.%f", of GRADS and CDO
  const bool is_moment = std::isdigit(static_cast<unsigned char>(words[2].front())) != 0 || link == "since";
  return is_moment && std::find(since_words.begin(), since_words.end(), link) != since_words.end();
}

std::optional<GridReason> reason_of_units(const std::string& units) {
  const std::vector<std::string> words = words_of(units);
  if (is_clock(words)) return GridReason{GridKind::time, fmt::format("units '{} {}'", words[0], words[1])};
  const std::string degrees = lower(fmt::format("{}", fmt::join(words, "_")));
  if (std::find(degree_units.begin(), degree_units.end(), degrees) == degree_units.end()) return {};
  return GridReason{GridKind::coordinate, fmt::format("units '{}'", fmt::join(words, " "))};
}

// CF's sign of a vertical axis; fluxes of many dimensions have one as well.
bool is_positive_axis(hid_t dataset) {
  const std::string positive = lower(text_attribute(dataset, "positive").value_or(""));
  if (positive != "up" && positive != "down") return false;
  const Handle space(H5Dget_space(dataset), H5Sclose);
  return H5Sget_simple_extent_ndims(space.id()) <= 1;
}

// What the variable says of itself.
std::optional<GridReason> own_reason(hid_t dataset) {
  const auto text = [&](const char* name) { return text_attribute(dataset, name).value_or(""); };
  if (auto reason = reason_of_units(text("units"))) return reason;
  if (text("CLASS") == "DIMENSION_SCALE") return GridReason{GridKind::coordinate, "of a dimension"};
  const std::string axis = text("axis");
  if (axis.size() == 1 && std::string_view("XYZTxyzt").find(axis) != std::string_view::npos) {
    return GridReason{GridKind::coordinate, fmt::format("axis '{}'", axis)};
  }
  // A modifier may follow ("air_temperature status_flag").
  for (const std::string& word : words_of(text("standard_name"))) {
    for (const auto& [name, kind] : standard_names) {
      if (word == name) return GridReason{kind, fmt::format("standard_name '{}'", name)};
    }
  }
  if (is_positive_axis(dataset)) return GridReason{GridKind::vertical, "it has an attribute positive"};
  for (const TellingAttribute& telling : telling_attributes) {
    if (H5Aexists(dataset, telling.name) > 0) {
      return GridReason{telling.kind, fmt::format("it has an attribute {}", telling.name)};
    }
  }
  return {};
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string join(const std::string& group, const std::string& name) {
  return (group == "/" ? "" : group) + "/" + name;
}

// "/a/../b/./c" as "/b/c"; nothing where it leads out of the file.
std::optional<std::string> normal(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream in(path);
  for (std::string part; std::getline(in, part, '/');) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(std::move(part));
    } else if (parts.empty()) {
      return {};
    } else {
      parts.pop_back();
    }
  }
  std::string text;
  for (const std::string& part : parts) text += "/" + part;
  return text;
}

class GridFinder {
 public:
  GridFinder(hid_t file, const Contents& contents) : file_(file), contents_(contents) {}

  Result<std::vector<std::optional<GridReason>>> run() {
    list_variables();
    for (const Entry& entry : contents_.entries) {
      const bool is_group = entry.kind == EntryKind::group;
      if (!is_group && entry.kind != EntryKind::dataset) continue;
      const Handle object(H5Oopen(file_, entry.path.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object.valid()) {
        return corrupt(fmt::format("{} cannot be opened: {}", entry.path, hdf5::last_error()));
      }
      if (!is_group) {
        if (auto reason = own_reason(object.id())) own_.emplace(entry.path, std::move(*reason));
      }
      follow_names(object.id(), entry, is_group);
    }
    return reasons();
  }

 private:
  void list_variables() {
    for (const Entry& entry : contents_.entries) {
      const bool is_dataset = entry.kind == EntryKind::dataset;
      if (is_dataset) canonical_.emplace(entry.path, entry.path);
      // A second name of a variable means the variable.
      if (entry.kind == EntryKind::hard_link) canonical_[entry.path] = entry.target;
      // Before the dimension of that name, which has no variable.
      if (is_dataset) canonical_[netcdf_path(entry.path)] = entry.path;
    }
    for (const auto& [path, target] : canonical_) by_name_[path.substr(path.rfind('/') + 1)].insert(path);
  }

  // Of a group only `coordinates`, which CF lets a file have for all its variables.
  void follow_names(hid_t object, const Entry& entry, bool is_group) {
    const std::string group = is_group ? entry.path : parent_of(entry.path);
    for (const NamingAttribute& attribute : naming_attributes) {
      if (is_group && std::string_view(attribute.name) != "coordinates") continue;
      const auto text = text_attribute(object, attribute.name);
      if (!text) continue;
      std::string names = *text;
      std::replace(names.begin(), names.end(), ',', ' ');  // not CF's way, but people's
      for (std::string& word : words_of(names)) {
        const bool is_key = word.back() == ':';
        if (is_key && attribute.words != Words::names_and_keys) continue;
        if (is_key) word.pop_back();
        const auto target = resolve(word, group);
        if (!target || *target == entry.path) continue;
        named_.emplace(*target,
                       GridReason{attribute.kind, fmt::format("named by {}:{}", entry.path, attribute.name)});
      }
    }
  }

  // As CF has it: a path means that variable; a name alone is looked for in the group, then in those around
  // it, then, the nearest to the root first, anywhere.
  std::optional<std::string> resolve(const std::string& name, const std::string& group) const {
    if (name.empty()) return {};
    if (name.find('/') != std::string::npos) {
      const auto path = normal(name.front() == '/' ? name : join(group, name));
      return path ? known(*path) : std::nullopt;
    }
    for (std::string at = group;; at = parent_of(at)) {
      if (auto found = known(join(at, name))) return found;
      if (at == "/") break;
    }
    const auto anywhere = by_name_.find(name);
    if (anywhere == by_name_.end()) return {};
    const auto depth = [](const std::string& path) { return std::count(path.begin(), path.end(), '/'); };
    return known(*std::min_element(anywhere->second.begin(), anywhere->second.end(),
                                   [&](const auto& a, const auto& b) { return depth(a) < depth(b); }));
  }

  std::optional<std::string> known(const std::string& path) const {
    const auto found = canonical_.find(path);
    if (found == canonical_.end()) return {};
    return found->second;
  }

  const std::vector<std::string>& models_in(const std::string& group) {
    const auto known_models = models_.find(group);
    if (known_models != models_.end()) return known_models->second;
    const GroupSigns signs{[&](const std::string& name) { return canonical_.contains(join(group, name)); },
                           [&](const std::string& name) {
                             for (std::string at = group;; at = parent_of(at)) {
                               const Handle open(H5Gopen2(file_, at.c_str(), H5P_DEFAULT), H5Gclose);
                               if (auto text = text_attribute(open.id(), name)) return *text;
                               // A number is a sign as well: it is enough that it is there.
                               if (H5Aexists(open.id(), name.c_str()) > 0) return std::string(" ");
                               if (at == "/") return std::string();
                             }
                           }};
    return models_.emplace(group, models_of(signs)).first->second;
  }

  std::vector<std::optional<GridReason>> reasons() {
    std::vector<std::optional<GridReason>> all;
    for (const Entry& entry : contents_.entries) {
      if (entry.kind != EntryKind::dataset) continue;
      all.push_back(reason_of(entry));
    }
    return all;
  }

  std::optional<GridReason> reason_of(const Entry& entry) {
    for (const auto* reasons : {&own_, &named_}) {
      const auto found = reasons->find(entry.path);
      if (found != reasons->end()) return found->second;
    }
    for (const std::string& model : models_in(parent_of(entry.path))) {
      if (is_grid_name(model, netcdf_path(entry.name))) return GridReason{GridKind::model, model};
    }
    return {};
  }

  hid_t file_;
  const Contents& contents_;
  std::map<std::string, std::string> canonical_;  // of every path to a dataset: the one it is listed under
  std::map<std::string, std::set<std::string>> by_name_;
  std::map<std::string, GridReason> own_, named_;           // by path
  std::map<std::string, std::vector<std::string>> models_;  // by group
};

}  // namespace

std::string GridReason::text() const {
  return kind == GridKind::model ? fmt::format("{} {}", sign, kind_text(kind))
                                 : fmt::format("{}: {}", kind_text(kind), sign);
}

Result<std::vector<std::optional<GridReason>>> find_grid_variables(hid_t file, const Contents& contents) {
  return GridFinder(file, contents).run();
}

}  // namespace neve::datafile
