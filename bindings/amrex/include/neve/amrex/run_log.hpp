// SPDX-License-Identifier: BSD-3-Clause
// What a run has written: a line for each file, a table at the end, and lines of JSON.
#pragma once

#include <AMReX.H>
#include <AMReX_ParallelDescriptor.H>
#include <AMReX_Print.H>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "neve/amrex/inputs.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::amrex::detail {

// A plotfile or a checkpoint, as the run met it.
struct WrittenFile {
  enum Kind : uint8_t { plotfile, checkpoint };
  static constexpr const char* kind_names[] = {"plotfile", "checkpoint"};

  Kind kind = plotfile;
  std::string path;
  int step = 0;
  double time = 0;     // of the simulation
  double seconds = 0;  // that the call took on this rank
  WriteOptions options;
  bool has_codes_options = false;  // which the code has passed to the call
  std::optional<Bound> bound{};    // of all fields of a checkpoint, where the input file gives it
};

// A field's largest error, in its bound; 0 where it is exact.
inline double worst_of_bound(const FieldReport& field) {
  return field.bound_abs > 0 ? field.max_abs_error / field.bound_abs : 0;
}
// Of any field; 0 as well where nothing is known yet.
inline double worst_of_bound(const WriteReport& report) {
  double worst = 0;
  for (const LevelReport& level : report.levels) {
    for (const FieldReport& field : level.fields) worst = std::max(worst, worst_of_bound(field));
  }
  return worst;
}

// Of the files of a checkpoint, which are written one after another.
inline WriteReport sum_of(const std::vector<WriteReport>& reports) {
  WriteReport sum;
  for (const WriteReport& report : reports) {
    sum.raw_bytes += report.raw_bytes;
    sum.file_bytes += report.file_bytes;
    sum.data_bytes += report.data_bytes;
    sum.mpi_writes += report.mpi_writes;
    sum.staged_bytes += report.staged_bytes;
    sum.plan_seconds += report.plan_seconds;
    sum.encode_seconds += report.encode_seconds;
    sum.place_seconds += report.place_seconds;
    sum.write_seconds += report.write_seconds;
    sum.sync_seconds += report.sync_seconds;
    sum.levels.insert(sum.levels.end(), report.levels.begin(), report.levels.end());
  }
  return sum;
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

inline std::string json_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? formatted("\\u%04x", static_cast<unsigned>(c))
                                                   : std::string(1, c);
  }
  return quoted + "\"";
}

// What has been written since AMReX was initialized; on the rank that does AMReX's output.
class RunLog {
 public:
  static RunLog& of_run() {
    static RunLog log;
    return log;
  }

  void add(const WrittenFile& file, const WriteReport& report, const RunInputs& inputs) {
    if (!::amrex::ParallelDescriptor::IOProcessor()) return;
    if (!inputs.log.empty()) add_json(file, report, inputs.log);
    if (inputs.verbose == 0) return;
    if (sums_[0].files + sums_[1].files == 0) ::amrex::ExecOnFinalize([] { of_run().finish(); });
    Sum& sum = sums_[file.kind];
    if (sum.files++ == 0) ::amrex::Print() << said(file, report, inputs);
    ::amrex::Print() << line(file, report);
    sum.add(file, report);
  }

 private:
  // A field of all files.
  struct FieldSum {
    std::string name;
    double raw_bytes = 0, stored_bytes = 0, worst = 0;

    void add(const FieldReport& field) {
      raw_bytes += static_cast<double>(field.raw_bytes);
      stored_bytes += static_cast<double>(field.stored_bytes);
      worst = std::max(worst, worst_of_bound(field));
    }
  };
  // All files of a kind.
  struct Sum {
    int files = 0;
    bool has_data_alone = false;  // of some file only the bytes of its data are known
    double seconds = 0, encode_seconds = 0, raw_bytes = 0, bytes = 0;
    std::vector<FieldSum> fields;

    void add(const WrittenFile& file, const WriteReport& report) {
      seconds += file.seconds;
      encode_seconds += report.encode_seconds;
      raw_bytes += static_cast<double>(report.raw_bytes);
      bytes += bytes_of(report);
      has_data_alone = has_data_alone || report.file_bytes == 0;
      for (const LevelReport& level : report.levels) {
        for (const FieldReport& field : level.fields) of_field(field.name).add(field);
      }
    }
    FieldSum& of_field(const std::string& name) {
      for (FieldSum& field : fields) {
        if (field.name == name) return field;
      }
      fields.push_back({name});
      return fields.back();
    }
  };

  // Of all fields, where it is one.
  static std::string asked_bound(const WriteReport& report) {
    std::string asked;
    for (const LevelReport& level : report.levels) {
      for (const FieldReport& field : level.fields) {
        const std::string bound = to_string(field.asked);
        if (!asked.empty() && asked != bound) return "each field with its own bound";
        asked = bound;
      }
    }
    return asked;
  }
  static std::string said(const WrittenFile& file, const WriteReport& report, const RunInputs& inputs) {
    const WriteOptions& options = file.options;
    const std::string by = file.has_codes_options ? " (as the code says)\n"
                           : inputs.are_said      ? " (set by neve.* in the input file)\n"
                                                  : " (defaults; neve.* in the input file sets others)\n";
    const std::string begin = std::string("neve: ") + WrittenFile::kind_names[file.kind] + "s: ";
    if (file.kind == WrittenFile::checkpoint) {
      return begin + (file.bound ? to_string(*file.bound) : asked_bound(report)) + ", effort " +
             std::string(effort_name(options.encode.effort)) + by;
    }
    if (!options.compress) return begin + "uncompressed" + by;
    std::string text = begin + to_string(options.bound);
    for (const auto& [name, rule] : options.fields) {
      if (rule.bound) text += ", " + name + " " + to_string(*rule.bound);
    }
    return text + ", effort " + std::string(effort_name(options.encode.effort)) + ", covered " +
           covered_name(options.covered) + ", behind " + behind_name(behind_of(options)) +
           (options.stage.empty() ? "" : ", stage " + options.stage) +
           (inputs.every > 1 ? ", every " + std::to_string(inputs.every) + " steps" : "") + by;
  }
  static const char* of_what(bool data_alone) { return data_alone ? " of data" : ""; }
  // A number of JSON, or null for what is not known.
  static std::string known(bool is_known, const std::string& number) { return is_known ? number : "null"; }
  // Of a file written behind the run's back the length is not known yet.
  static double bytes_of(const WriteReport& report) {
    return static_cast<double>(report.file_bytes > 0 ? report.file_bytes : report.data_bytes);
  }
  static double write_seconds(const WriteReport& report) {
    return report.place_seconds + report.write_seconds + report.sync_seconds;
  }
  static constexpr double megabyte = 1e6;

  static std::string worst_text(double worst) {
    return worst > 0 ? formatted("worst error %.4f of its bound", worst) : "exact";
  }
  static std::string line(const WrittenFile& file, const WriteReport& report) {
    std::string text = "neve: " + file.path + ": ";
    const double bytes = bytes_of(report), raw = static_cast<double>(report.raw_bytes);
    if (bytes > 0) {
      text += formatted("%.3g MB in %.3g MB%s (%.3gx), ", raw / megabyte, bytes / megabyte,
                        of_what(report.file_bytes == 0), raw / bytes) +
              worst_text(worst_of_bound(report)) + "; ";
    } else {
      text += formatted("%.3g MB copied; ", raw / megabyte);
    }
    const double rest = std::max(0.0, file.seconds - report.encode_seconds - write_seconds(report));
    return text + formatted("%.3g s: encode %.3g, write %.3g, all else %.3g\n", file.seconds,
                            report.encode_seconds, write_seconds(report), rest);
  }

  static void add_json(const WrittenFile& file, const WriteReport& report, const std::string& path) {
    std::ofstream out(path, std::ios::app);
    out << "{\"kind\":" << json_text(WrittenFile::kind_names[file.kind])
        << ",\"file\":" << json_text(file.path) << ",\"step\":" << file.step
        << ",\"time\":" << known(std::isfinite(file.time), formatted("%.17g", file.time))
        << ",\"behind\":" << json_text(behind_name(behind_of(file.options)))
        << ",\"raw_bytes\":" << report.raw_bytes
        << ",\"file_bytes\":" << known(report.file_bytes > 0, std::to_string(report.file_bytes))
        << ",\"data_bytes\":" << known(bytes_of(report) > 0, std::to_string(report.data_bytes))
        << ",\"staged_bytes\":" << known(bytes_of(report) > 0, std::to_string(report.staged_bytes))
        << ",\"worst_of_bound\":" << known(bytes_of(report) > 0, formatted("%.6g", worst_of_bound(report)))
        << formatted(",\"seconds\":%.6g,\"encode_seconds\":%.6g,\"write_seconds\":%.6g}", file.seconds,
                     report.encode_seconds, write_seconds(report))
        << '\n';
    out.close();
    if (!out) ::amrex::Print() << "neve: cannot write neve.log = " << path << '\n';
  }

  static void print(const char* kind, const Sum& sum) {
    ::amrex::Print() << formatted("neve: %d %s%s, %.3g MB", sum.files, kind, sum.files == 1 ? "" : "s",
                                  sum.raw_bytes / megabyte);
    if (sum.bytes > 0) {
      ::amrex::Print() << formatted(" in %.3g MB%s (%.3gx)", sum.bytes / megabyte,
                                    of_what(sum.has_data_alone), sum.raw_bytes / sum.bytes);
    }
    ::amrex::Print() << formatted("; %.3g s in calls, of which encode %.3g\n", sum.seconds,
                                  sum.encode_seconds);
    if (!sum.fields.empty())
      ::amrex::Print() << "neve: field, data alone         ratio  worst error in its bound\n";
    for (const FieldSum& field : sum.fields) {
      ::amrex::Print() << "neve: " << field.name
                       << std::string(field.name.size() < 20 ? 20 - field.name.size() : 0, ' ')
                       << formatted(" %10.3gx  ",
                                    field.stored_bytes > 0 ? field.raw_bytes / field.stored_bytes : 0.0)
                       << (field.worst > 0 ? formatted("%.4f\n", field.worst) : "exact\n");
    }
  }

  void finish() {
    for (const WrittenFile::Kind kind : {WrittenFile::plotfile, WrittenFile::checkpoint}) {
      if (sums_[kind].files > 0) print(WrittenFile::kind_names[kind], sums_[kind]);
    }
    *this = RunLog();
  }

  std::array<Sum, 2> sums_;  // by kind
};

}  // namespace neve::amrex::detail
