// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/convert_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <vector>

#include "alone/needs_mpi.hpp"
#include "tools/common/option_flags.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {
namespace {

constexpr const char* uncompressed_option = "--uncompressed";

struct ConversionName {
  options::Target target;
  const char* words;
  bool is_uncompressed = false;
};
constexpr ConversionName conversions[] = {
    {options::plotfile, "for a plotfile in HDF5 (DST ends in .h5 or .hdf5)"},
    {options::uncompressed_plotfile, "for a plotfile in HDF5", true},
    {options::amrex_plotfile, "for an AMReX plotfile directory"},
    {options::checkpoint, "for a checkpoint"},
    {options::uncompressed_checkpoint, "for a checkpoint", true},
    {options::data_file, "for a data file"},
    {options::series, "for data files of time steps (--into)"},
    {options::chombo_checkpoint, "for a checkpoint of Chombo"},
    {options::uncompressed_chombo_checkpoint, "for a checkpoint of Chombo", true},
};

struct OptionPlaces {
  std::string option;
  options::Targets targets;
};
constexpr options::Targets to_a_plotfile = options::plotfile | options::uncompressed_plotfile;
constexpr options::Targets of_boxes = to_a_plotfile | options::amrex_plotfile | options::checkpoint |
                                      options::uncompressed_checkpoint | options::chombo_checkpoint |
                                      options::uncompressed_chombo_checkpoint;

constexpr options::Targets of_conversions = of_boxes | options::data_file | options::series;

// What a data file takes is for each of a series, but for the explanation: a log says more of that.
options::Targets with_series(std::string_view option, options::Targets targets) {
  const bool is_of_each = (targets & options::data_file) != 0 && option != "--explain";
  return is_of_each ? targets | options::series : targets;
}

// What is convert's alone, and the table's; --json means something everywhere.
std::vector<OptionPlaces> all_places() {
  std::vector<OptionPlaces> places = {
      {"--field", options::plotfile | options::checkpoint | options::data_file | options::chombo_checkpoint},
      {"--ghosts", to_a_plotfile},
      {"--to", of_boxes},
      {"--rules", options::data_file},
      {"--restart", options::data_file},
      {"--choices", options::series},
  };
  for (const options::Option& option : options::table()) {
    if (option.is_in_command && (option.targets & of_conversions) != 0)
      places.push_back({"--" + options::dashed(option.key), option.targets});
  }
  for (OptionPlaces& place : places) place.targets = with_series(place.option, place.targets);
  return places;
}

// For a message about `option`.
std::string words_of(unsigned wanted, std::string_view option) {
  std::string words;
  for (const ConversionName& name : conversions) {
    if ((wanted & name.target) == 0) continue;
    words += (words.empty() ? "" : ", ") + std::string(name.words);
    if (name.is_uncompressed && option != uncompressed_option)
      words += fmt::format(" with {}", uncompressed_option);
  }
  return words;
}

// The last part of the path, without slashes behind it.
std::string base_name(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

// "nc" of plt.nc; nothing where what follows the last dot is no file type: a number (plt1.5e3, plt.0113), one
// of the words by which people and AMReX put directories aside, or long.
std::string file_type(const std::string& name) {
  constexpr std::array<std::string_view, 8> aside = {"old",  "new",  "bak",  "orig",
                                                     "copy", "back", "temp", "tmp"};
  constexpr size_t longest = 5;
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == name.size()) return {};
  const std::string type = name.substr(dot + 1);
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0; };
  if (type.size() > longest || std::isalpha(static_cast<unsigned char>(type[0])) == 0 ||
      !std::all_of(type.begin(), type.end(), is_plain) ||
      std::find(aside.begin(), aside.end(), type) != aside.end()) {
    return {};
  }
  return type;
}

// A file's layout is what MPI libraries are told about it.
Status check_layout_is_heeded(const CLI::App& command) {
  if (has_mpi) return {};
  for (const options::Option& option : options::table()) {
    const std::string flag = "--" + options::dashed(option.key);
    if (option.is_of_layout && command.count(flag) > 0) return alone::needs_mpi(flag);
  }
  return {};
}

}  // namespace

Status check_convert_options(const CLI::App& command, options::Target target) {
  for (const OptionPlaces& place : all_places()) {
    if ((place.targets & target) != 0 || command.count(place.option) == 0) continue;
    if (is_switched_off(*command.get_option(place.option))) continue;
    return usage_error(fmt::format("{} has no meaning {}; it is allowed {}", place.option,
                                   words_of(target, place.option), words_of(place.targets, place.option)));
  }
  return check_layout_is_heeded(command);
}

bool has_hdf5_name(const std::string& destination) {
  return destination.ends_with(".h5") || destination.ends_with(".hdf5");
}

Result<bool> goes_to_hdf5(const std::string& destination, const std::string& to) {
  if (to == "hdf5") return true;
  if (to == "amrex") return false;
  if (to != "auto") {
    return usage_error(fmt::format("--to '{}' is unknown; allowed are auto, hdf5, amrex, vtkhdf, xdmf", to));
  }
  if (has_hdf5_name(destination)) return true;
  const std::string type = file_type(base_name(destination));
  std::error_code error;
  if (type.empty() || std::filesystem::is_directory(destination, error)) return false;
  const std::string stem = destination.substr(0, destination.rfind('.'));
  return usage_error(
      fmt::format("{}: a plotfile is written as an HDF5 file (name ending in .h5 or .hdf5) or as an AMReX "
                  "plotfile directory (name without an extension such as .{}); use {}.h5 or {}, or keep this "
                  "name with --to hdf5 or --to amrex",
                  destination, type, stem, stem));
}

}  // namespace neve::cli
