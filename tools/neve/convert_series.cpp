// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/convert_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "io/datafile/series_progress.hpp"
#include "io/files/copy_in_folder.hpp"
#include "neve/selection_memory.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/visible.hpp"
#include "tools/neve/data_file.hpp"
#include "tools/neve/series_report.hpp"
#include "tools/neve/source.hpp"
#include "tools/neve/write_report.hpp"

namespace neve::cli {
namespace {

namespace fs = std::filesystem;

std::string name_of(const std::string& source) { return fs::path(source).filename().string(); }

std::string target_of(const SeriesConversion& conversion, const std::string& source) {
  return (fs::path(conversion.folder) / name_of(source)).string();
}

std::string_view kind_words(InputKind kind) {
  switch (kind) {
    case InputKind::plotfile_directory:
      return "a plotfile";
    case InputKind::checkpoint:
      return "a checkpoint";
    case InputKind::npy:
      return "a .npy array";
    case InputKind::hdf5:
      return "an HDF5 plotfile";
    case InputKind::netcdf_classic:
    case InputKind::frame_or_unknown:
      break;
  }
  return "none that Neve knows";
}

// Makes the folder; whether it was missing.
Result<bool> make_folder(const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    return usage_error(
        fmt::format("--into {} is there and no folder; needed is a folder, or a name that is free", folder));
  }
  const bool is_made = fs::create_directory(folder, error);
  if (error) return failure(fmt::format("--into {}: {}", folder, error.message()));
  return is_made;
}

// Copies the files of a series one after the other.
class Series {
 public:
  explicit Series(const SeriesConversion& conversion)
      : conversion_(conversion),
        memory_(conversion.rules),
        saved_(conversion.folder, conversion.key, files_of(conversion)),
        progress_(true) {}

  Status run() {
    const auto begin = std::chrono::steady_clock::now();
    NEVE_TRY(datafile::check_settings(conversion_.sources, conversion_.options));
    NEVE_ASSIGN(const bool is_new, make_folder(conversion_.folder));
    report_.before = find_done();
    for (done_ = report_.before; done_ < conversion_.sources.size();) {
      const Status copied = copy_next();
      if (!copied.ok()) {
        std::error_code ignored;
        if (is_new && done_ == 0) fs::remove(conversion_.folder, ignored);  // which takes no full one
        return after_failure(copied);
      }
      ++done_;
      NEVE_TRY(saved_.note(report_.files.back().made.choices, memory_));
    }
    saved_.remove();
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return {};
  }

  const SeriesReport& report() const { return report_; }

 private:
  static std::vector<datafile::SeriesFile> files_of(const SeriesConversion& conversion) {
    std::vector<datafile::SeriesFile> files;
    for (const std::string& source : conversion.sources)
      files.push_back({fs::absolute(source).string(), fs::absolute(target_of(conversion, source)).string()});
    return files;
  }

  size_t find_done() {
    if (!conversion_.options.resume) return 0;
    bool was_another = false;
    const size_t done = saved_.find(memory_, was_another);
    if (was_another) {
      say("convert", fmt::format("an interrupted series in {} was of other files or options: starting over",
                                 conversion_.folder));
    } else if (done > 0) {
      say("convert", fmt::format("continuing an interrupted series: {} of {} are done", done,
                                 counted(conversion_.sources.size(), "file")));
    }
    return done;
  }

  Status copy_next() {
    const std::string& source = conversion_.sources[done_];
    datafile::CopyOptions options = conversion_.options;
    options.memory = &memory_;
    options.are_settings_checked = true;
    options.say = [](const std::string& text) { say("convert", text); };
    const auto files = static_cast<double>(conversion_.sources.size());
    options.progress = [this, files](const std::string& phase, double fraction) {
      const double of_this = phase == "encode" ? fraction : 0;
      progress_.show("encode", (static_cast<double>(done_) + of_this) / files);
    };
    const std::string target = target_of(conversion_, source);
    NEVE_ASSIGN(const InputKind kind, input_kind(source));
    NEVE_ASSIGN(datafile::CopyReport made, datafile::copy_data_file(source, target, options));
    report_.files.push_back({source, target, std::string(data_file_kind(kind)), std::move(made)});
    return {};
  }

  Status after_failure(const Status& status) const {
    return {
        status.code(),
        fmt::format("{}; {} of {} are done in {}{}", status.message(), done_,
                    counted(conversion_.sources.size(), "file"), conversion_.folder,
                    done_ > 0 ? ", and the same command goes on from there once the cause is removed" : "")};
  }

  const SeriesConversion& conversion_;
  SelectionMemory memory_;
  datafile::SeriesProgress saved_;
  Progress progress_;
  size_t done_ = 0;
  SeriesReport report_;
};

Status convert_on_first(const SeriesConversion& conversion) {
  SeriesReport report;
  {
    Series series(conversion);
    NEVE_TRY(series.run());
    report = series.report();
  }
  const std::string bound = to_string(conversion.options.bound);
  if (conversion.json) {
    nlohmann::ordered_json j = {
        {"into", conversion.folder}, {"bound", bound}, {"bound_is_default", conversion.bound_is_default}};
    j.update(series_json(report, conversion.rules, conversion.options.tuning));
    std::cout << json_text(j) << std::endl;
    return {};
  }
  std::cout << visible(series_text(report) +
                       bound_line(bound, conversion.bound_is_default, ", --field or --rules") +
                       series_summary(report, conversion.folder))
            << std::flush;
  return {};
}

}  // namespace

Status check_series(const SeriesConversion& conversion) {
  NEVE_TRY(datafile::SeriesProgress::check_place(conversion.folder));
  std::map<std::string, std::string> by_name;
  for (const std::string& source : conversion.sources) {
    NEVE_ASSIGN(const bool is_data, is_data_file(source));
    if (!is_data) {
      NEVE_ASSIGN(const InputKind kind, input_kind(source));
      return usage_error(fmt::format("{}: --into takes netCDF and other HDF5 data files; this is {}", source,
                                     kind_words(kind)));
    }
    NEVE_TRY(files::check_is_another_in_folder(source, target_of(conversion, source)));
    const auto [other, is_first] = by_name.emplace(name_of(source), source);
    if (is_first) continue;
    return usage_error(fmt::format("{} and {} would both be {}: the copies have their sources' names",
                                   other->second, source, target_of(conversion, source)));
  }
  return {};
}

Status convert_series(const Ranks& ranks, SeriesConversion conversion) {
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&] { return check_series(conversion); })));
  return ranks.on_first("convert", [&] { return convert_on_first(conversion); });
}

}  // namespace neve::cli
