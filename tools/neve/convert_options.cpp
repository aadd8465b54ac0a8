// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/convert_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace neve::cli {
namespace {

constexpr const char* uncompressed_option = "--uncompressed";

struct ConversionName {
  Conversion conversion;
  const char* words;
  bool is_uncompressed = false;
};
constexpr ConversionName conversions[] = {
    {Conversion::compressed_plotfile, "for a plotfile in HDF5 (DST ends in .h5 or .hdf5)"},
    {Conversion::uncompressed_plotfile, "for a plotfile in HDF5", true},
    {Conversion::amrex_plotfile, "for an AMReX plotfile directory"},
    {Conversion::compressed_checkpoint, "for a checkpoint"},
    {Conversion::uncompressed_checkpoint, "for a checkpoint", true},
    {Conversion::data_file, "for a data file"},
    {Conversion::compressed_chombo_checkpoint, "for a checkpoint of Chombo"},
    {Conversion::uncompressed_chombo_checkpoint, "for a checkpoint of Chombo", true},
};

constexpr unsigned bit(Conversion conversion) { return static_cast<unsigned>(conversion); }
constexpr unsigned plotfile = bit(Conversion::compressed_plotfile);
constexpr unsigned plain = bit(Conversion::uncompressed_plotfile);
constexpr unsigned amrex = bit(Conversion::amrex_plotfile);
constexpr unsigned checkpoint = bit(Conversion::compressed_checkpoint);
constexpr unsigned plain_checkpoint = bit(Conversion::uncompressed_checkpoint);
constexpr unsigned data = bit(Conversion::data_file);
constexpr unsigned chombo = bit(Conversion::compressed_chombo_checkpoint);
constexpr unsigned plain_chombo = bit(Conversion::uncompressed_chombo_checkpoint);
constexpr unsigned encoded = plotfile | checkpoint | data | chombo;
constexpr unsigned through_mpi = plotfile | plain | checkpoint | plain_checkpoint;

struct OptionPlaces {
  const char* option;
  unsigned conversions;
};
// --json means something everywhere.
constexpr OptionPlaces places[] = {
    {"--bound", encoded},
    {"--field", encoded},
    {"--codec", encoded},
    {"--arrangement", encoded},
    {"--unit", encoded},
    {"--block", encoded},
    {"--merge-units", encoded},
    {"--method", encoded},
    {"--speed-weight", encoded},
    {"--ratio-weight", encoded},
    {"--effort", encoded},
    {"--chunk-size", encoded},
    {"--threads", encoded},
    {"--explain", encoded},
    {"--fill", plotfile | data | chombo},
    {"--covered", plotfile},
    {"--cross-level", plotfile},
    {"--strategy", through_mpi},
    {"--aggregate-boxes", through_mpi},
    {"--stripe-count", through_mpi},
    {"--stripe-size", through_mpi},
    {"--aggregators", through_mpi},
    {"--buffer-size", through_mpi},
    {uncompressed_option, plain | plain_checkpoint | plain_chombo},
    {"--ghosts", plotfile | plain},
    {"--to", plotfile | plain | amrex | checkpoint | plain_checkpoint | chombo | plain_chombo},
    {"--rules", data},
    {"--restart", data},
};

// For a message about `option`.
std::string words_of(unsigned wanted, std::string_view option) {
  std::string words;
  for (const ConversionName& name : conversions) {
    if ((wanted & bit(name.conversion)) == 0) continue;
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

}  // namespace

Status check_convert_options(const CLI::App& command, Conversion conversion) {
  for (const OptionPlaces& place : places) {
    if (command.count(place.option) == 0 || (place.conversions & bit(conversion)) != 0) continue;
    return usage_error(fmt::format("{} has no meaning {}; it is allowed {}", place.option,
                                   words_of(bit(conversion), place.option),
                                   words_of(place.conversions, place.option)));
  }
  return {};
}

Result<bool> goes_to_hdf5(const std::string& destination, const std::string& to) {
  if (to == "hdf5") return true;
  if (to == "amrex") return false;
  if (to != "auto") {
    return usage_error(fmt::format("--to '{}' is unknown; allowed are auto, hdf5, amrex", to));
  }
  if (destination.ends_with(".h5") || destination.ends_with(".hdf5")) return true;
  const std::string type = file_type(base_name(destination));
  std::error_code error;
  if (type.empty() || std::filesystem::is_directory(destination, error)) return false;
  const std::string stem = destination.substr(0, destination.rfind('.'));
  return usage_error(fmt::format(
      "{}: a plotfile becomes an HDF5 file (its name ends in .h5 or .hdf5) or an AMReX plotfile "
      "directory, whose name has no such ending as .{}; {}.h5 or {} would do, or --to hdf5 or --to "
      "amrex to have this very name",
      destination, type, stem, stem));
}

}  // namespace neve::cli
