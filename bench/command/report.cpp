// SPDX-License-Identifier: BSD-3-Clause
#include "bench/command/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <span>

#include "io/files/temporary_file.hpp"

namespace neve::cli {
namespace {

// As neve_bench/arguments.py has them.
constexpr const char* picture_suffixes[] = {".png", ".pdf", ".svg", ".jpg", ".jpeg"};

// Empty where it may be a report's; looked at before anything is measured.
std::string what_is_wrong(const std::string& name, const char* plot) {
  const std::string elsewhere = plot == nullptr ? "" : fmt::format("; use {} for pictures", plot);
  const std::string suffix = std::filesystem::path(name).extension().string();
  if (std::count(std::begin(picture_suffixes), std::end(picture_suffixes), suffix) > 0) {
    return fmt::format("'{}' is a picture's name; -o is the report's file{}", name, elsewhere);
  }
  std::error_code error;
  if (std::filesystem::is_directory(name, error)) {
    return fmt::format("'{}' is a folder; -o is the report's file{}", name, elsewhere);
  }
  return name.empty() ? "" : files::TemporaryFile::check(name).message();
}

}  // namespace

void add_report_options(CLI::App& command, ReportArgs& args, const char* plot) {
  command.option_defaults()->group("Report");
  command.add_option("-o,--output", args.output, "file for the report, as it is printed")
      ->type_name("FILE")
      ->check(CLI::Validator([plot](const std::string& name) { return what_is_wrong(name, plot); }, ""));
  command.add_flag("--json", args.json, "print JSON, and save it to the file of -o");
}

Status deliver(const ReportArgs& args, const std::string& report) {
  std::cout << report << std::flush;
  return args.output.empty() ? Status() : files::write_file(args.output, std::as_bytes(std::span(report)));
}

}  // namespace neve::cli
