// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>
#include <utility>

#include "preload/trace/json.hpp"
#include "preload/trace/json_names.hpp"

namespace neve::trace {
namespace {

using nlohmann::json;

// What a double holds exactly: programs that read a trace after this one take its numbers for doubles.
constexpr int64_t largest_number = int64_t{1} << 53;

// The library would turn 1e300, true and -1 into some other number.
template <class Number>
Number whole(const json& j, const std::string& name) {
  if (j.is_number_unsigned()) {
    const auto number = j.get<uint64_t>();
    if (number <= static_cast<uint64_t>(largest_number) && std::in_range<Number>(number))
      return static_cast<Number>(number);
  } else if (j.is_number_integer()) {
    const auto number = j.get<int64_t>();
    if (number >= -largest_number && number <= largest_number && std::in_range<Number>(number))
      return static_cast<Number>(number);
  }
  throw std::out_of_range(name + " is " + j.dump() + "; allowed: a whole number up to " +
                          std::to_string(largest_number));
}

template <class Number>
Number whole_at(const json& object, const std::string& name) {
  return whole<Number>(object.at(name), name);
}

// Counters that the first traces do not have.
bool is_later_counter(size_t counter) { return counter == STDIO_BYTES_INLINED; }

void level_from_json(const json& j, Level level, double start, Counters& counters) {
  const json& values = j.at("counters");
  const auto l = static_cast<size_t>(level);
  for (size_t c = 0; c < counter_count; ++c) {
    if (counter_infos[c].level != level) continue;
    const auto found = values.find(counter_infos[c].name);
    if (found == values.end() && is_later_counter(c)) continue;
    counters.values[c] = whole_at<int64_t>(values, counter_infos[c].name);
  }
  for (size_t t = 0; t < time_count; ++t) {
    const auto found = values.find(time_counter(level, t));
    if (found == values.end()) continue;
    counters.times[l][t] = found->get<double>() + (is_timestamp(t) ? start : 0);
  }
  for (size_t d = 0; d < direction_count; ++d) {
    Accesses& accesses = counters.accesses[l][d];
    for (size_t bin = 0; bin < bin_count; ++bin) {
      accesses.bins[bin] = whole_at<uint64_t>(values, bin_counter(level, d, bin));
    }
    const std::string list = std::string(plural_names[d]) + "_sizes";
    for (const json& pair : j.at(list)) {
      accesses.sizes[whole<uint64_t>(pair.at(0), list)] += whole<uint64_t>(pair.at(1), list);
    }
    if (const auto beyond = j.find(list + "_beyond"); beyond != j.end()) {
      accesses.overflow_calls = whole_at<uint64_t>(*beyond, "calls");
      accesses.overflow_bytes = whole_at<uint64_t>(*beyond, "bytes");
    }
  }
}

Share share_from_json(const json& j) {
  Share share;
  for (size_t level = 0; level < level_count; ++level) {
    for (size_t d = 0; d < direction_count; ++d) {
      const auto found = j.find(std::string(level_names[level]) + "_" + plural_names[d]);
      if (found == j.end()) continue;
      share.calls[level][d] = whole_at<uint64_t>(*found, "calls");
      share.bytes[level][d] = whole_at<uint64_t>(*found, "bytes");
      share.seconds[level][d] = found->at("seconds").get<double>();
    }
  }
  return share;
}

Heatmap heatmap_from_json(const json& j) {
  Heatmap heatmap;
  heatmap.bin_seconds = j.at("bin_seconds").get<double>();
  if (!Heatmap::is_width(heatmap.bin_seconds)) {
    throw std::out_of_range("a heatmap has bins of " + j.at("bin_seconds").dump() +
                            " seconds; allowed: 0.1, doubled any number of times");
  }
  for (size_t level = 0; level < level_count; ++level) {
    const auto directions = j.find(level_names[level]);
    if (directions == j.end()) continue;
    for (size_t d = 0; d < direction_count; ++d) {
      const auto bins = directions->find(plural_names[d]);
      if (bins == directions->end()) continue;
      if (bins->size() > heat_bins) {
        throw std::out_of_range("a heatmap has " + std::to_string(bins->size()) +
                                " bins; allowed: " + std::to_string(heat_bins));
      }
      for (const json& bytes : *bins)
        heatmap.bytes[level][d].push_back(whole<uint64_t>(bytes, "a heatmap's bin"));
    }
  }
  heatmap.cut_zeros();
  return heatmap;
}

FileSize size_from_json(const json& j, double start) {
  FileSize size;
  if (const auto at = j.find("at_open"); at != j.end()) {
    size.at_open = whole<int64_t>(*at, "at_open");
    size.opened = j.at("opened").get<double>() + start;
  }
  if (const auto at = j.find("at_close"); at != j.end()) {
    size.at_close = whole<int64_t>(*at, "at_close");
    size.closed = j.at("closed").get<double>() + start;
  }
  size.explained_end = whole_at<int64_t>(j, "explained_end");
  size.appended_bytes = whole_at<uint64_t>(j, "appended_bytes");
  if (const auto names = j.find("inode"); names != j.end()) size.inode = names->get<std::string>();
  return size;
}

// What later versions have added is not in an older trace.
void overflow_from_json(const json& lost, double start, Counters& overflow) {
  const auto found = lost.find("overflow");
  if (found == lost.end()) return;
  for (size_t level = 0; level < level_count; ++level) {
    const auto at = found->find(level_names[level]);
    if (at != found->end()) level_from_json(*at, static_cast<Level>(level), start, overflow);
  }
}

Process process_from_json(const json& p) {
  Process process;
  process.host = p.at("host").get<std::string>();
  process.id = whole_at<uint64_t>(p, "id");
  process.program = p.at("program").get<std::string>();
  process.rank = p.at("rank").is_null() ? -1 : whole_at<int64_t>(p, "rank");
  process.ranks = whole_at<int64_t>(p, "ranks");
  process.start = p.at("start").get<double>();
  process.end = p.at("end").get<double>();
  if (const auto found = p.find("heatmap"); found != p.end()) process.heatmap = heatmap_from_json(*found);
  if (const auto found = p.find("overflow"); found != p.end()) process.overflow = share_from_json(*found);
  return process;
}

void file_from_json(const json& f, double start, Trace& trace) {
  File& file = trace.files[f.at("path").get<std::string>()];
  for (const json& name : f.at("renamed_to")) file.renamed_to.push_back(name.get<std::string>());
  for (const json& p : f.at("phases")) {
    Counters& counters = file.phases[p.at("phase").get<std::string>()];
    for (size_t level = 0; level < level_count; ++level) {
      const auto found = p.find(level_names[level]);
      if (found != p.end()) level_from_json(*found, static_cast<Level>(level), start, counters);
    }
  }
  for (const json& s : f.at("shares")) {
    const int process = whole_at<int>(s, "process");
    if (process < 0 || static_cast<size_t>(process) >= trace.processes.size()) {
      throw std::out_of_range("a share names process " + std::to_string(process) + " of " +
                              std::to_string(trace.processes.size()));
    }
    file.shares[process] = share_from_json(s);
  }
  if (const auto size = f.find("size"); size != f.end()) file.size = size_from_json(*size, start);
}

Trace parse(const json& j) {
  Trace trace;
  const double start = j.at("start").get<double>();
  for (const json& word : j.at("command")) trace.command.push_back(word.get<std::string>());
  for (const json& p : j.at("processes")) trace.processes.push_back(process_from_json(p));
  for (const json& f : j.at("files")) file_from_json(f, start, trace);
  const json& lost = j.at("incomplete");
  overflow_from_json(lost, start, trace.overflow);
  trace.dropped_calls = whole_at<uint64_t>(lost, "dropped_calls");
  trace.dropped_bytes = whole_at<uint64_t>(lost, "dropped_bytes");
  trace.reentrant_calls = whole_at<uint64_t>(lost, "reentrant_calls");
  trace.phases_beyond = whole_at<uint64_t>(lost, "phases_beyond");
  trace.writable_maps = whole_at<uint64_t>(lost, "writable_maps");
  trace.unreadable_parts = whole_at<uint64_t>(lost, "unreadable_parts");
  return trace;
}

}  // namespace

Result<Trace> from_json(const json& j) {
  try {
    if (const int version = whole_at<int>(j, "neve_trace"); version != format_version) {
      return corrupt("a trace of version " + std::to_string(version) + "; this program reads version " +
                     std::to_string(format_version));
    }
    return parse(j);
  } catch (const std::exception& e) {
    return corrupt(std::string("not a trace of neve: ") + e.what());
  }
}

}  // namespace neve::trace
