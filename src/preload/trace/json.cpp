// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/json.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>

#include "io/files/temporary_file.hpp"
#include "io/files/write.hpp"

namespace neve::trace {

using nlohmann::json;

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
