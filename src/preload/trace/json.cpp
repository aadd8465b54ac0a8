// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/json.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>
#include <utility>

#include "io/files/temporary_file.hpp"
#include "io/files/write.hpp"

namespace neve::trace {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int format_version = 1;
constexpr size_t top_count = 4;  // as many as Darshan has
constexpr const char* direction_names[] = {"READ", "WRITE"};
constexpr const char* plural_names[] = {"read", "write"};
constexpr const char* level_names[] = {"mpiio", "posix", "stdio"};

std::string bin_counter(Level level, size_t direction, size_t bin) {
  return std::string(level_prefix(level)) + "_SIZE_" + direction_names[direction] + "_" +
         (level == Level::mpiio ? "AGG_" : "") + bin_names[bin];
}

std::string time_counter(Level level, size_t time) {
  return std::string(level_prefix(level)) + "_F_" + time_infos[time].name;
}

bool is_timestamp(size_t time) {
  return time_infos[time].rule == TimeRule::earliest || time_infos[time].rule == TimeRule::latest;
}

// The library would turn 1e300, true and -1 into some other number.
template <class Number>
Number whole(const json& j) {
  if (j.is_number_unsigned()) {
    if (const auto number = j.get<uint64_t>(); std::in_range<Number>(number))
      return static_cast<Number>(number);
  } else if (j.is_number_integer()) {
    if (const auto number = j.get<int64_t>(); std::in_range<Number>(number))
      return static_cast<Number>(number);
  }
  throw std::out_of_range(j.dump() + " is not a whole number, or beyond what is counted");
}

void level_from_json(const json& j, Level level, double start, Counters& counters) {
  const json& values = j.at("counters");
  const auto l = static_cast<size_t>(level);
  for (size_t c = 0; c < counter_count; ++c) {
    if (counter_infos[c].level == level)
      counters.values[c] = whole<int64_t>(values.at(counter_infos[c].name));
  }
  for (size_t t = 0; t < time_count; ++t) {
    const auto found = values.find(time_counter(level, t));
    if (found == values.end()) continue;
    counters.times[l][t] = found->get<double>() + (is_timestamp(t) ? start : 0);
  }
  for (size_t d = 0; d < direction_count; ++d) {
    Accesses& accesses = counters.accesses[l][d];
    for (size_t bin = 0; bin < bin_count; ++bin) {
      accesses.bins[bin] = whole<uint64_t>(values.at(bin_counter(level, d, bin)));
    }
    for (const json& pair : j.at(std::string(plural_names[d]) + "_sizes")) {
      accesses.sizes[whole<uint64_t>(pair.at(0))] += whole<uint64_t>(pair.at(1));
    }
    if (const auto beyond = j.find(std::string(plural_names[d]) + "_sizes_beyond"); beyond != j.end()) {
      accesses.overflow_calls = whole<uint64_t>(beyond->at("calls"));
      accesses.overflow_bytes = whole<uint64_t>(beyond->at("bytes"));
    }
  }
}

Trace parse(const json& j) {
  Trace trace;
  const double start = j.at("start").get<double>();
  for (const json& word : j.at("command")) trace.command.push_back(word.get<std::string>());
  for (const json& p : j.at("processes")) {
    Process process;
    process.host = p.at("host").get<std::string>();
    process.id = whole<uint64_t>(p.at("id"));
    process.program = p.at("program").get<std::string>();
    process.rank = p.at("rank").is_null() ? -1 : whole<int64_t>(p.at("rank"));
    process.ranks = whole<int64_t>(p.at("ranks"));
    process.start = p.at("start").get<double>();
    process.end = p.at("end").get<double>();
    trace.processes.push_back(process);
  }
  for (const json& f : j.at("files")) {
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
      const int process = whole<int>(s.at("process"));
      if (process < 0 || static_cast<size_t>(process) >= trace.processes.size()) {
        throw std::out_of_range("a share names process " + std::to_string(process) + " of " +
                                std::to_string(trace.processes.size()));
      }
      Share& share = file.shares[process];
      for (size_t level = 0; level < level_count; ++level) {
        for (size_t d = 0; d < direction_count; ++d) {
          const auto found = s.find(std::string(level_names[level]) + "_" + plural_names[d]);
          if (found == s.end()) continue;
          share.calls[level][d] = whole<uint64_t>(found->at("calls"));
          share.bytes[level][d] = whole<uint64_t>(found->at("bytes"));
          share.seconds[level][d] = found->at("seconds").get<double>();
        }
      }
    }
  }
  const json& lost = j.at("incomplete");
  trace.dropped_calls = whole<uint64_t>(lost.at("dropped_calls"));
  trace.dropped_bytes = whole<uint64_t>(lost.at("dropped_bytes"));
  trace.reentrant_calls = whole<uint64_t>(lost.at("reentrant_calls"));
  trace.phases_beyond = whole<uint64_t>(lost.at("phases_beyond"));
  trace.writable_maps = whole<uint64_t>(lost.at("writable_maps"));
  trace.unreadable_parts = whole<uint64_t>(lost.at("unreadable_parts"));
  return trace;
}

}  // namespace

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

ordered_json to_json(const Trace& trace) {
  const double start = trace.start();
  ordered_json j;
  j["neve_trace"] = format_version;
  j["command"] = trace.command;
  j["start"] = start;
  j["end"] = trace.end();
  j["processes"] = ordered_json::array();
  for (const Process& process : trace.processes) {
    ordered_json p;
    p["host"] = process.host;
    p["id"] = process.id;
    p["program"] = process.program;
    p["rank"] = process.rank < 0 ? ordered_json() : ordered_json(process.rank);
    p["ranks"] = process.ranks;
    p["start"] = process.start;
    p["end"] = process.end;
    j["processes"].push_back(std::move(p));
  }
  j["files"] = ordered_json::array();
  for (const auto& [path, file] : trace.files) {
    ordered_json f;
    f["path"] = path;
    f["renamed_to"] = file.renamed_to;
    const Counters total = file.total();
    if (total.values[MPIIO_BYTES_WRITTEN] > 0) f["write_amplification"] = write_amplification(total);
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
      for (size_t level = 0; level < level_count; ++level) {
        for (size_t d = 0; d < direction_count; ++d) {
          if (share.calls[level][d] == 0) continue;
          s[std::string(level_names[level]) + "_" + plural_names[d]] = {{"calls", share.calls[level][d]},
                                                                        {"bytes", share.bytes[level][d]},
                                                                        {"seconds", share.seconds[level][d]}};
        }
      }
      f["shares"].push_back(std::move(s));
    }
    j["files"].push_back(std::move(f));
  }
  j["incomplete"] = {
      {"dropped_calls", trace.dropped_calls},     {"dropped_bytes", trace.dropped_bytes},
      {"reentrant_calls", trace.reentrant_calls}, {"phases_beyond", trace.phases_beyond},
      {"writable_maps", trace.writable_maps},     {"unreadable_parts", trace.unreadable_parts}};
  return j;
}

Result<Trace> from_json(const json& j) {
  try {
    if (const int version = whole<int>(j.at("neve_trace")); version != format_version) {
      return corrupt("a trace of version " + std::to_string(version) + "; this program reads version " +
                     std::to_string(format_version));
    }
    return parse(j);
  } catch (const std::exception& e) {
    return corrupt(std::string("not a trace of neve: ") + e.what());
  }
}

Result<Trace> read_trace_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return failure(path + ": " + std::strerror(errno));
  json j = json::parse(file, nullptr, false);
  if (j.is_discarded()) return corrupt(path + ": not JSON");
  auto trace = from_json(j);
  if (!trace.ok()) return trace.status().in(path);
  return trace;
}

Status write_trace_file(const Trace& trace, const std::string& path, Existing existing, bool& exists) {
  exists = false;
  NEVE_ASSIGN(files::TemporaryFile temporary, files::TemporaryFile::beside(path));
  NEVE_ASSIGN(files::Descriptor file, files::create_file(temporary.path()));
  // A path need not be UTF-8; what is not becomes a sign that says so.
  const std::string text =
      to_json(trace).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  NEVE_TRY(files::write_fully(file.number(), 0, std::as_bytes(std::span(text)), path));
  NEVE_TRY(file.close(path));
  return existing == Existing::keep ? temporary.commit_if_free(exists) : temporary.commit();
}

}  // namespace neve::trace
