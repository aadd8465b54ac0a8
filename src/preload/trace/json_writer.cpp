// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "preload/trace/json.hpp"
#include "preload/trace/json_names.hpp"

namespace neve::trace {

using nlohmann::ordered_json;

constexpr size_t top_count = 4;  // as many as Darshan has

ordered_json level_to_json(const Counters& counters, Level level, double start) {
  const auto l = static_cast<size_t>(level);
  ordered_json values;
  for (size_t c = 0; c < counter_count; ++c) {
    if (counter_infos[c].level == level) values[counter_infos[c].name] = counters.values[c];
  }
  for (size_t d = 0; d < direction_count; ++d) {
    for (size_t bin = 0; bin < bin_count; ++bin) {
      values[bin_counter(level, d, bin)] = counters.accesses[l][d].bins[bin];
    }
  }
  const auto top = top_sizes({&counters.accesses[l][0], &counters.accesses[l][1]}, top_count);
  for (size_t i = 0; i < top.size(); ++i) {
    const std::string name = std::string(level_prefix(level)) + "_ACCESS" + std::to_string(i + 1);
    values[name + "_ACCESS"] = top[i].first;
    values[name + "_COUNT"] = top[i].second;
  }
  for (size_t t = 0; t < time_count; ++t) {
    const double value = counters.times[l][t];
    if (value != 0) values[time_counter(level, t)] = value - (is_timestamp(t) ? start : 0);
  }
  ordered_json j;
  j["counters"] = std::move(values);
  for (size_t d = 0; d < direction_count; ++d) {
    const Accesses& accesses = counters.accesses[l][d];
    ordered_json sizes = ordered_json::array();
    for (const auto& [bytes, count] : accesses.sizes) sizes.push_back({bytes, count});
    j[std::string(plural_names[d]) + "_sizes"] = std::move(sizes);
    if (accesses.overflow_calls != 0) {
      j[std::string(plural_names[d]) + "_sizes_beyond"] = {{"calls", accesses.overflow_calls},
                                                           {"bytes", accesses.overflow_bytes}};
    }
  }
  return j;
}

namespace {

ordered_json calls_and_bytes(const Counters& counters, Level level, Direction direction) {
  constexpr Counter bytes[level_count][direction_count] = {{MPIIO_BYTES_READ, MPIIO_BYTES_WRITTEN},
                                                           {POSIX_BYTES_READ, POSIX_BYTES_WRITTEN},
                                                           {STDIO_BYTES_READ, STDIO_BYTES_WRITTEN}};
  const Counter moved = bytes[static_cast<size_t>(level)][static_cast<size_t>(direction)];
  return {{"calls", counters.at(level, direction).calls()}, {"bytes", counters.values[moved]}};
}

int64_t opens(const Counters& counters, Level level) {
  const auto& values = counters.values;
  return level == Level::mpiio   ? values[MPIIO_INDEP_OPENS] + values[MPIIO_COLL_OPENS]
         : level == Level::posix ? values[POSIX_OPENS]
                                 : values[STDIO_OPENS];
}

// By level: opens, calls and bytes at a glance, then everything.
ordered_json overflow_to_json(const Counters& overflow, double start) {
  ordered_json j = ordered_json::object();
  for (size_t l = 0; l < level_count; ++l) {
    const auto level = static_cast<Level>(l);
    if (!overflow.touched(level)) continue;
    ordered_json& of_level = j[level_names[l]];
    of_level["opens"] = opens(overflow, level);
    of_level["write"] = calls_and_bytes(overflow, level, Direction::write);
    of_level["read"] = calls_and_bytes(overflow, level, Direction::read);
    of_level.update(level_to_json(overflow, level, start));
  }
  return j;
}

ordered_json unexplained_to_json(const std::map<std::string, uint64_t>& unexplained) {
  uint64_t sum = 0;
  for (const auto& [path, bytes] : unexplained) sum += bytes;
  return {{"files", unexplained.size()}, {"bytes", sum}};
}

void share_to_json(const Share& share, ordered_json& j) {
  for (size_t level = 0; level < level_count; ++level) {
    for (size_t d = 0; d < direction_count; ++d) {
      if (share.calls[level][d] == 0 && share.bytes[level][d] == 0) continue;
      j[std::string(level_names[level]) + "_" + plural_names[d]] = {{"calls", share.calls[level][d]},
                                                                    {"bytes", share.bytes[level][d]},
                                                                    {"seconds", share.seconds[level][d]}};
    }
  }
}

ordered_json heatmap_to_json(const Heatmap& heatmap) {
  ordered_json j;
  j["bin_seconds"] = heatmap.bin_seconds;
  for (size_t level = 0; level < level_count; ++level) {
    for (size_t d = direction_count; d-- > 0;) {
      if (!heatmap.bytes[level][d].empty()) j[level_names[level]][plural_names[d]] = heatmap.bytes[level][d];
    }
  }
  return j;
}

ordered_json size_to_json(const FileSize& size, double start) {
  ordered_json j;
  if (size.at_open >= 0) {
    j["at_open"] = size.at_open;
    j["opened"] = size.opened - start;
  }
  if (size.at_close >= 0) {
    j["at_close"] = size.at_close;
    j["closed"] = size.closed - start;
  }
  j["explained_end"] = size.explained_end;
  j["appended_bytes"] = size.appended_bytes;
  if (!size.inode.empty()) j["inode"] = size.inode;
  return j;
}

ordered_json process_to_json(const Process& process) {
  ordered_json p;
  p["host"] = process.host;
  p["id"] = process.id;
  p["program"] = process.program;
  p["rank"] = process.rank < 0 ? ordered_json() : ordered_json(process.rank);
  p["ranks"] = process.ranks;
  p["start"] = process.start;
  p["end"] = process.end;
  if (!process.heatmap.is_empty()) p["heatmap"] = heatmap_to_json(process.heatmap);
  if (!process.overflow.is_empty()) {
    p["overflow"] = ordered_json::object();
    share_to_json(process.overflow, p["overflow"]);
  }
  return p;
}

ordered_json file_to_json(const std::string& path, const File& file, uint64_t unexplained, double start) {
  ordered_json f;
  f["path"] = path;
  f["renamed_to"] = file.renamed_to;
  const Counters total = file.total();
  if (total.values[MPIIO_BYTES_WRITTEN] > 0) f["write_amplification"] = write_amplification(total);
  if (file.size.at_open >= 0 || file.size.at_close >= 0) f["size"] = size_to_json(file.size, start);
  if (unexplained > 0) f["unexplained_bytes"] = unexplained;
  f["phases"] = ordered_json::array();
  for (const auto& [name, counters] : file.phases) {
    ordered_json p;
    p["phase"] = name;
    for (size_t level = 0; level < level_count; ++level) {
      if (!counters.touched(static_cast<Level>(level))) continue;
      p[level_names[level]] = level_to_json(counters, static_cast<Level>(level), start);
    }
    f["phases"].push_back(std::move(p));
  }
  f["shares"] = ordered_json::array();
  for (const auto& [process, share] : file.shares) {
    ordered_json s;
    s["process"] = process;
    share_to_json(share, s);
    f["shares"].push_back(std::move(s));
  }
  return f;
}

}  // namespace

ordered_json to_json(const Trace& trace) {
  const double start = trace.start();
  ordered_json j;
  j["neve_trace"] = format_version;
  j["command"] = trace.command;
  j["start"] = start;
  j["end"] = trace.end();
  j["processes"] = ordered_json::array();
  for (const Process& process : trace.processes) j["processes"].push_back(process_to_json(process));
  j["files"] = ordered_json::array();
  const auto unexplained = trace.unexplained_bytes();
  for (const auto& [path, file] : trace.files) {
    const auto bytes = unexplained.find(path);
    j["files"].push_back(file_to_json(path, file, bytes == unexplained.end() ? 0 : bytes->second, start));
  }
  j["incomplete"] = {
      {"dropped_calls", trace.dropped_calls},           {"dropped_bytes", trace.dropped_bytes},
      {"reentrant_calls", trace.reentrant_calls},       {"phases_beyond", trace.phases_beyond},
      {"writable_maps", trace.writable_maps},           {"unreadable_parts", trace.unreadable_parts},
      {"unexplained", unexplained_to_json(unexplained)}};
  if (ordered_json overflow = overflow_to_json(trace.overflow, start); !overflow.empty()) {
    j["incomplete"]["overflow"] = std::move(overflow);
  }
  return j;
}

}  // namespace neve::trace
