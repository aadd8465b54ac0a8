// SPDX-License-Identifier: BSD-3-Clause
// `neve doctor`: what is installed, and whether HDF5 would find a plugin that works.
#include <H5PLextern.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/filter_parameters.hpp"
#include "neve/frame.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/python.hpp"
#include "tools/common/ranks.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {
namespace {

namespace fs = std::filesystem;

// The folders this process's HDF5 searches, in order: HDF5_PLUGIN_PATH, else the one compiled in.
std::vector<std::string> plugin_folders() {
  std::vector<std::string> folders;
  unsigned int count = 0;
  if (H5PLsize(&count) < 0) return folders;
  for (unsigned int i = 0; i < count; ++i) {
    char name[4096];
    const ssize_t length = H5PLget(i, name, sizeof name);
    if (length > 0)
      folders.emplace_back(name, std::min<size_t>(static_cast<size_t>(length), sizeof name - 1));
  }
  return folders;
}

// HDF5 looks only at such names.
bool looks_like_plugin(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("lib") && name.find(".so") != std::string::npos;
}

struct Plugin {
  std::string path;
  int number = 0;  // of the filter; 0 where the library does not load
  Status works;    // why not, when it does not
};

// A small array there and back through the plugin's own functions.
Status try_plugin(const H5Z_class2_t& filter) {
  constexpr uint64_t values = 4096;
  hdf5::FilterParameters parameters;
  parameters.bound = {BoundMode::abs, 1e-3};
  parameters.dtype = DType::f64;
  parameters.chunk_shape = {values};
  const std::vector<uint32_t> words = hdf5::to_words(parameters);
  const size_t raw_bytes = values * sizeof(double);
  std::vector<double> original(values);
  for (size_t i = 0; i < values; ++i) original[i] = 0.001 * static_cast<double>(i * i % 977);

  size_t buffer_bytes = raw_bytes;
  void* buffer = std::malloc(raw_bytes);
  if (buffer == nullptr) return failure("out of memory");
  std::memcpy(buffer, original.data(), raw_bytes);
  const size_t frame_bytes = filter.filter(0, words.size(), words.data(), raw_bytes, &buffer_bytes, &buffer);
  const size_t decoded_bytes = frame_bytes == 0 ? 0
                                                : filter.filter(H5Z_FLAG_REVERSE, words.size(), words.data(),
                                                                frame_bytes, &buffer_bytes, &buffer);
  std::vector<double> decoded(values);
  if (decoded_bytes == raw_bytes) std::memcpy(decoded.data(), buffer, raw_bytes);
  std::free(buffer);
  if (frame_bytes == 0) return failure("it loads, but does not encode");
  if (decoded_bytes != raw_bytes) {
    return failure(
        fmt::format("it loads, but decodes {} bytes where {} were encoded", decoded_bytes, raw_bytes));
  }
  for (size_t i = 0; i < values; ++i) {
    if (!(std::abs(decoded[i] - original[i]) <= parameters.bound.value)) {
      return failure(fmt::format("it loads, but value {} came back as {} (allowed: within {})", original[i],
                                 decoded[i], parameters.bound.value));
    }
  }
  return {};
}

// Nothing when the library is not a filter plugin with Neve's number.
std::optional<Plugin> examine(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    // A library of another filter that does not load is not ours to judge.
    if (path.find("neve") == std::string::npos) return {};
    return Plugin{path, 0,
                  failure(fmt::format("it does not load: {}", why == nullptr ? "no reason given" : why))};
  }
  std::optional<Plugin> found;
  const auto type = reinterpret_cast<H5PL_type_t (*)()>(dlsym(library, "H5PLget_plugin_type"));
  const auto info = reinterpret_cast<const void* (*)()>(dlsym(library, "H5PLget_plugin_info"));
  if (type != nullptr && info != nullptr && type() == H5PL_TYPE_FILTER) {
    const auto* filter = static_cast<const H5Z_class2_t*>(info());
    if (filter != nullptr && hdf5::is_neve_filter(filter->id))
      found = Plugin{path, filter->id, try_plugin(*filter)};
  }
  dlclose(library);
  return found;
}

std::vector<Plugin> find_plugins(const std::vector<std::string>& folders) {
  std::vector<Plugin> plugins;
  for (const std::string& folder : folders) {
    std::error_code error;
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (looks_like_plugin(entry.path())) files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      if (auto plugin = examine(file)) plugins.push_back(std::move(*plugin));
    }
  }
  return plugins;
}

// The plugin that HDF5 would load for a number: the first that it meets. Null where there is none.
const Plugin* plugin_of(int number, const std::vector<Plugin>& plugins) {
  const auto found = std::find_if(plugins.begin(), plugins.end(),
                                  [&](const Plugin& p) { return p.number == number || p.number == 0; });
  return found == plugins.end() ? nullptr : &*found;
}

// The first of the filter's numbers that files may have and HDF5 could not read; 0 where there is none.
int unreadable_number(const std::vector<Plugin>& plugins) {
  std::vector<int> numbers = {hdf5::neve_filter_id};
  numbers.insert(numbers.end(), hdf5::former_filter_ids.begin(), hdf5::former_filter_ids.end());
  for (const int number : numbers) {
    const Plugin* const plugin = plugin_of(number, plugins);
    if (plugin == nullptr || !plugin->works.ok()) return number;
  }
  return 0;
}

// Beside this command, in a build folder or an installation.
std::string own_plugin_folder() {
  const fs::path root = fs::path(own_path()).parent_path().parent_path();
  // The second is that of a Python package, the others those of a build folder and of installations.
  for (const char* folder :
       {"lib/plugin", "plugin", "lib/neve/plugin", "lib/x86_64-linux-gnu/neve/plugin", "lib64/neve/plugin"}) {
    std::error_code error;
    if (fs::is_directory(root / folder, error)) return (root / folder).string();
  }
  return {};
}

// Nothing in a build without MPI.
std::optional<std::string> mpi_version() {
  if (!has_mpi) return {};
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text, static_cast<size_t>(std::max(length, 0)));
  return version.substr(0, version.find_first_of(",\n"));
}

#ifdef H5_HAVE_PARALLEL
constexpr bool is_parallel_hdf5 = true;
#else
constexpr bool is_parallel_hdf5 = false;
#endif

int print_plugin_path() {
  const std::string folder = own_plugin_folder();
  if (!folder.empty()) {
    fmt::print("{}\n", folder);
    return 0;
  }
  say("doctor", fmt::format("no folder of Neve's plugin beside {}", own_path()));
  return static_cast<int>(Code::plugin_missing);
}

int doctor(bool json) {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  const std::string hdf5_version = fmt::format("{}.{}.{}", major, minor, release);
  const std::vector<std::string> folders = plugin_folders();
  const std::vector<Plugin> plugins = find_plugins(folders);
  const auto python = find_python();
  const std::optional<std::string> mpi = mpi_version();
  const std::string own_folder = own_plugin_folder();

  const int unreadable = unreadable_number(plugins);
  const bool plugin_works = unreadable == 0;
  const std::string cure = own_folder.empty() ? "set HDF5_PLUGIN_PATH to the folder of Neve's plugin"
                                              : fmt::format("export HDF5_PLUGIN_PATH={}", own_folder);
  if (json) {
    nlohmann::ordered_json j;
    j["ok"] = plugin_works;
    j["neve"] = NEVE_VERSION;
    j["hdf5"] = {{"version", hdf5_version}, {"headers", H5_VERS_INFO}, {"parallel", is_parallel_hdf5}};
    j["mpi"] = mpi ? nlohmann::ordered_json(*mpi) : nlohmann::ordered_json();
    j["simd"] = simd_target();
    j["simd_available"] = simd_targets();
    j["plugin_folders"] = folders;
    j["plugins"] = nlohmann::ordered_json::array();
    for (const Plugin& plugin : plugins) {
      j["plugins"].push_back({{"path", plugin.path},
                              {"number", plugin.number},
                              {"works", plugin.works.ok()},
                              {"problem", plugin.works.message()}});
    }
    j["plugin"] = plugin_works ? nlohmann::ordered_json(plugin_of(hdf5::neve_filter_id, plugins)->path)
                               : nlohmann::ordered_json();
    j["python"] = python.ok() ? nlohmann::ordered_json(*python) : nlohmann::ordered_json();
    std::cout << json_text(j) << std::endl;
  } else {
    fmt::print("neve     {}\n", NEVE_VERSION);
    fmt::print("HDF5     {} ({})\n", hdf5_version, is_parallel_hdf5 ? "parallel" : "serial");
    fmt::print("MPI      {}\n", mpi.value_or("none: this command runs in one process"));
    fmt::print("SIMD     {} (can run: {})\n", simd_target(), fmt::join(simd_targets(), ", "));
    fmt::print("Python   {}\n", python.ok() ? *python : "none: " + python.status().message());
    fmt::print("plugin   searched: {}\n", fmt::join(folders, ", "));
    for (const Plugin& plugin : plugins) {
      fmt::print(
          "         {}: {}\n", plugin.path,
          plugin.works.ok() ? fmt::format("works (filter {})", plugin.number) : plugin.works.message());
    }
    if (unreadable != 0 && plugin_of(unreadable, plugins) == nullptr)
      fmt::print("         Neve's filter (number {}) is in none of them\n", unreadable);
    std::fflush(stdout);
  }
  if (plugin_works) return 0;
  say("doctor", fmt::format("HDF5 tools cannot read Neve's files here. Cure: {}", cure));
  return static_cast<int>(Code::plugin_missing);
}

}  // namespace

Command add_doctor(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("doctor", "Show what is installed, and which plugin HDF5 would load");
  auto json = std::make_shared<bool>(false);
  CLI::Option* as_json = sub->add_flag("--json", *json, "as JSON on stdout");
  auto plugin_path = std::make_shared<bool>(false);
  sub->add_flag("--plugin-path", *plugin_path, "only the folder of this installation's plugin")
      ->excludes(as_json);
  sub->footer(
      "The exit code is 5 if HDF5 would find no plugin that works.\n"
      "Examples:\n"
      "  neve doctor\n"
      "  export HDF5_PLUGIN_PATH=$(neve doctor --plugin-path)\n"
      "  HDF5_PLUGIN_PATH=build/lib/plugin neve doctor --json");
  Command command{sub, {}, {}};
  command.local = [json, plugin_path] { return *plugin_path ? print_plugin_path() : doctor(*json); };
  return command;
}

}  // namespace neve::cli
