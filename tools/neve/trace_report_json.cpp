// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/trace_report_json.hpp"
#include "tools/common/json_text.hpp"

#include <algorithm>

#include "preload/trace/json.hpp"

namespace neve::cli {
namespace {

using nlohmann::ordered_json;
using trace::Counters;
using trace::Direction;
using trace::Level;

constexpr const char* level_names[] = {"mpiio", "posix", "stdio"};
constexpr const char* direction_names[] = {"read", "write"};
constexpr size_t frequent_count = 4;

std::string text_of(const ordered_json& j) { return json_text(j, -1); }

// null: a log has no count of it.
ordered_json level_json(const TraceSummary& s, const Counters& counters, Level level) {
  ordered_json j = trace::level_to_json(counters, level, s.trace.start());
  if (!s.is_log) return j;
  const std::string prefix = trace::level_prefix(level);
  ordered_json& values = j["counters"];
  for (auto& [name, value] : values.items()) {
    if (s.lacks(name) || (name.starts_with(prefix + "_SIZE_") && s.lacks_sizes(level))) value = nullptr;
  }
  j["read_sizes"] = nullptr;
  j["write_sizes"] = nullptr;
  return j;
}

ordered_json levels_json(const TraceSummary& s, const Counters& counters) {
  ordered_json j;
  if (counters.values[trace::MPIIO_BYTES_WRITTEN] > 0 && !s.lacks(trace::POSIX_BYTES_WRITTEN)) {
    j["write_amplification"] = write_amplification(counters);
  }
  for (const Level level : trace_levels) {
    j[level_names[static_cast<size_t>(level)]] = level_json(s, counters, level);
  }
  return j;
}

// Ranks where there are some, else numbers of processes in the trace.
ordered_json who_json(const std::set<int>& processes, const trace::Trace& trace) {
  std::vector<int64_t> names;
  for (const int process : processes) {
    const int64_t rank = trace.processes[static_cast<size_t>(process)].rank;
    names.push_back(rank < 0 ? process : rank);
  }
  std::sort(names.begin(), names.end());
  return names;
}

ordered_json writers_json(const TraceSummary& s, const Writers& writers) {
  if (s.lacks("SHARES")) return nullptr;
  return {{"mpiio", who_json(writers.mpiio, s.trace)},
          {"posix", who_json(writers.posix, s.trace)},
          {"stdio", who_json(writers.stdio, s.trace)}};
}

ordered_json moved_json(const Moved& moved) {
  return {{"calls", moved.calls}, {"bytes", moved.bytes}, {"seconds", moved.seconds}};
}

// Bytes over time, from the start of the process on.
ordered_json heatmap_json(const trace::Heatmap& heatmap) {
  ordered_json j;
  j["bin_seconds"] = heatmap.bin_seconds;
  for (size_t level = 0; level < trace::level_count; ++level) {
    for (size_t d = 0; d < trace::direction_count; ++d) {
      if (!heatmap.bytes[level][d].empty()) {
        j[level_names[level]][direction_names[d]] = heatmap.bytes[level][d];
      }
    }
  }
  return j;
}

ordered_json process_json(const TraceSummary& s, const ProcessRow& row) {
  const trace::Process& process = s.trace.processes[static_cast<size_t>(row.process)];
  ordered_json j = {{"name", process_name(process)},
                    {"rank", process.rank < 0 ? ordered_json() : ordered_json(process.rank)},
                    {"host", process.host},
                    {"program", process.program},
                    {"start", process.start - s.trace.start()},
                    {"end", process.end - s.trace.start()}};
  if (!process.heatmap.is_empty()) j["heatmap"] = heatmap_json(process.heatmap);
  if (s.lacks("SHARES")) return j;
  j["moved"] = moved_json(row.moved);
  for (size_t level = 0; level < trace::level_count; ++level) {
    for (size_t d = 0; d < trace::direction_count; ++d) {
      j[std::string(level_names[level]) + "_" + direction_names[d]] =
          moved_json({row.share.calls[level][d], row.share.bytes[level][d], row.share.seconds[level][d]});
    }
  }
  return j;
}

ordered_json frequent_json(const TraceSummary& s) {
  ordered_json j = ordered_json::object();
  for (const Level level : trace_levels) {
    j[level_names[static_cast<size_t>(level)]] = frequent_sizes(s, level, frequent_count);
  }
  return j;
}

ordered_json head_json(const TraceSummary& s) {
  ordered_json j;
  j["trace"] = s.path;
  j["label"] = s.label;
  j["kind"] = s.is_log ? "darshan" : "neve";
  j["command"] = s.trace.command;
  j["seconds"] = s.trace.end() - s.trace.start();
  j["processes"] = s.trace.processes.size();
  j["file_count"] = s.files.size();
  j["warnings"] = trace_warnings(s);
  j["total"] = levels_json(s, s.total);
  if (s.under_mpi.values[trace::MPIIO_BYTES_WRITTEN] > 0 && !s.lacks(trace::POSIX_BYTES_WRITTEN)) {
    // Of the files written through MPI-IO alone.
    j["total"]["write_amplification"] = write_amplification(s.under_mpi);
  }
  j["frequent_sizes"] = frequent_json(s);
  j["writers"] = writers_json(s, s.writers);
  j["phases"] = ordered_json::object();
  for (const auto& [name, counters] : s.phases) j["phases"][name] = levels_json(s, counters);
  j["ranks"] = ordered_json::array();
  for (const ProcessRow& row : s.processes) j["ranks"].push_back(process_json(s, row));
  return j;
}

ordered_json file_json(const TraceSummary& s, const FileRow& row) {
  ordered_json j = levels_json(s, row.file->total());
  j["name"] = shown_name(row);
  j["moved"] = moved_json(row.moved);
  if (row.unexplained_bytes > 0) j["unexplained_bytes"] = row.unexplained_bytes;
  j["renamed_to"] = row.file->renamed_to;
  j["writers"] = writers_json(s, writers_of(*row.file));
  return j;
}

void write_summary(const TraceSummary& s, size_t top, const std::function<void(std::string_view)>& write) {
  const size_t shown = top == 0 ? s.files.size() : std::min(top, s.files.size());
  ordered_json head = head_json(s);
  Moved rest;
  for (size_t i = shown; i < s.files.size(); ++i) {
    rest.calls += s.files[i].moved.calls;
    rest.bytes += s.files[i].moved.bytes;
    rest.seconds += s.files[i].moved.seconds;
  }
  head["more_files"] = moved_json(rest);
  head["more_files"]["files"] = s.files.size() - shown;
  std::string text = text_of(head);
  text.pop_back();  // the object goes on with its files
  write(text + ", \"files\": {");
  for (size_t i = 0; i < shown; ++i) {
    const FileRow& row = s.files[i];
    write(std::string(i == 0 ? "\n" : ",\n") + text_of(*row.path) + ": " + text_of(file_json(s, row)));
  }
  write("}}");
}

}  // namespace

void write_report_json(const std::vector<TraceSummary>& all, size_t top,
                       const std::function<void(std::string_view)>& write) {
  write("{\"traces\": [");
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) write(",\n");
    write_summary(all[i], top, write);
  }
  write("]}\n");
}

}  // namespace neve::cli
