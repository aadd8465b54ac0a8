// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/trace_log.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "preload/trace/json.hpp"
#include "tools/common/python.hpp"

namespace neve::cli {
namespace {

constexpr uint64_t log_magic = 6567223;  // of Darshan, after 8 bytes of version, in the writer's byte order
constexpr const char* level_names[] = {"mpiio", "posix", "stdio"};

std::string last_line(const std::string& text) {
  const std::string whole = text.substr(0, text.find_last_not_of(" \n") + 1);
  return whole.substr(whole.rfind('\n') + 1);
}

// Where Python failed: its code is ours, its reason is on its standard output; of a failure that it did not
// see coming the last line of its errors says most.
Status outcome_of(const std::string& path, const ModuleOutcome& outcome) {
  if (WIFSIGNALED(outcome.wait_status)) {
    return corrupt(fmt::format("{}: damaged: Darshan's library was ended by signal {} while it read the log",
                               path, WTERMSIG(outcome.wait_status)));
  }
  const int code = WEXITSTATUS(outcome.wait_status);
  // Where Darshan's library cannot read on, it says so, and hands over what it had until then.
  constexpr std::string_view mark = "Error: ";
  if (const size_t at = outcome.err.find(mark); code == 0 && at != std::string::npos) {
    const size_t begin = at + mark.size();
    return corrupt(path + ": damaged: " + outcome.err.substr(begin, outcome.err.find('\n', begin) - begin));
  }
  if (code == 0) return {};
  const bool is_ours = code >= static_cast<int>(Code::failure) && code <= static_cast<int>(Code::corrupt);
  return {is_ours ? static_cast<Code>(code) : Code::failure,
          last_line(outcome.out.empty() ? outcome.err : outcome.out)};
}

void add_log_parts(const nlohmann::json& j, DarshanLog& log) {
  for (const auto& name : j.at("absent")) log.absent.insert(name.get<std::string>());
  for (const auto& note : j.at("notes")) log.notes.push_back(note.get<std::string>());
  for (const auto& file : j.at("files")) {
    LogSizes& sizes = log.sizes[file.at("path").get<std::string>()];
    for (size_t level = 0; level < trace::level_count; ++level) {
      for (const auto& pair : file.at("access_sizes").at(level_names[level])) {
        sizes[level][pair.at(0).get<uint64_t>()] += pair.at(1).get<uint64_t>();
      }
    }
  }
}

}  // namespace

bool is_darshan_log(const std::string& path) {
  if (path.ends_with(".darshan")) return true;
  std::ifstream file(path, std::ios::binary);
  char begin[16] = {};
  if (!file.read(begin, sizeof begin)) return false;
  uint64_t magic = 0;
  std::memcpy(&magic, begin + 8, sizeof magic);
  return magic == log_magic || __builtin_bswap64(magic) == log_magic;
}

Result<DarshanLog> read_darshan_log(const std::string& path) {
  NEVE_ASSIGN(const ModuleOutcome outcome, run_module("neve._darshan_log", {path}));
  NEVE_TRY(outcome_of(path, outcome));
  const auto j = nlohmann::json::parse(outcome.out, nullptr, false);
  if (j.is_discarded()) return failure(path + ": Python did not hand over what it read");
  DarshanLog log;
  auto trace = trace::from_json(j);
  if (!trace.ok()) return trace.status().in(path);
  log.trace = std::move(*trace);
  try {
    add_log_parts(j, log);
  } catch (const std::exception& e) {
    return corrupt(fmt::format("{}: {}", path, e.what()));
  }
  return log;
}

}  // namespace neve::cli
