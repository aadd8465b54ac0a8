// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/adios2/choice_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <span>

#include "io/files/descriptor.hpp"
#include "io/files/temporary_file.hpp"
#include "io/files/write.hpp"
#include "neve/series.hpp"

namespace neve::adios2_operator {

struct ChoiceFile::Shared {
  std::mutex mutex;
  std::string path, rules;
  files::Descriptor file;  // open once there is a line
  int64_t bytes = 0;       // of its whole lines
  int names = 0;

  Status make(const std::string& head);
  Status append(const std::string& lines);
};

namespace {

constexpr const char* first_line = "# neve choices 1: ";
constexpr const char* columns =
    "variable,level,step,method,reason,performance,estimate,rival,rival_estimate,raw_bytes,coded_bytes,"
    "choosing_seconds,coding_seconds\n";

std::string with_process(std::string path) {
  constexpr std::string_view place = "%p";
  const size_t at = path.find(place);
  return at == std::string::npos ? path : path.replace(at, place.size(), std::to_string(getpid()));
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string line_of(const Choice& choice) {
  constexpr double nanosecond = 1e-9;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", quoted(choice.variable), choice.level,
                     choice.step, selection_name(choice.selection), choice_reason_name(choice.reason),
                     choice.performance, choice.estimate, selection_name(choice.rival), choice.rival_estimate,
                     choice.raw_bytes, choice.coded_bytes,
                     nanosecond * static_cast<double>(choice.choosing_ns),
                     nanosecond * static_cast<double>(choice.coding_ns));
}

}  // namespace

Result<ChoiceFile> ChoiceFile::open(std::string path, const std::string& rules) {
  // Never destroyed: operators may outlive what the program destroys at its end.
  static std::mutex& mutex = *new std::mutex;
  static auto& open_files = *new std::map<std::string, std::weak_ptr<Shared>>;
  path = with_process(std::move(path));
  const std::lock_guard lock(mutex);
  std::shared_ptr<Shared> shared = open_files[path].lock();
  if (!shared) {
    shared = std::make_shared<Shared>();
    shared->path = path;
    shared->rules = rules;
    open_files[path] = shared;
  }
  if (shared->rules != rules) {
    return usage_error(
        fmt::format("choices={}: operators with {} write this file; it cannot have those of {}", path,
                    shared->rules, rules));
  }
  return ChoiceFile(std::move(shared));
}

std::string ChoiceFile::next_name() {
  const std::lock_guard lock(shared_->mutex);
  return fmt::format("variable {}", ++shared_->names);
}

// The file gets its name when it has its head, and keeps it from then on.
Status ChoiceFile::Shared::make(const std::string& head) {
  NEVE_ASSIGN(files::TemporaryFile temporary, files::TemporaryFile::beside(path));
  NEVE_ASSIGN(files::Descriptor made, files::create_file(temporary.path()));
  NEVE_TRY(files::write_fully(made.number(), 0, std::as_bytes(std::span(head)), path));
  NEVE_TRY(temporary.commit());
  file = std::move(made);
  bytes = static_cast<int64_t>(head.size());
  return {};
}

Status ChoiceFile::Shared::append(const std::string& lines) {
  Status written = files::write_fully(file.number(), bytes, std::as_bytes(std::span(lines)), path);
  if (written.ok()) {
    bytes += static_cast<int64_t>(lines.size());
  } else if (::ftruncate(file.number(), bytes) != 0) {
    written = failure(written.message() + "; a part of a line stays");
  }
  return written;
}

Status ChoiceFile::add(std::span<const Choice> choices) {
  if (choices.empty()) return {};
  std::string lines;
  for (const Choice& choice : choices) lines += line_of(choice);
  const std::lock_guard lock(shared_->mutex);
  constexpr const char* what = "log of choices";
  if (!shared_->file.is_open())
    NEVE_TRY(shared_->make(first_line + shared_->rules + "\n" + columns).in(what));
  return shared_->append(lines).in(what);
}

Status ChoiceFile::finish() {
  const std::lock_guard lock(shared_->mutex);
  if (shared_.use_count() > 1 || !shared_->file.is_open()) return {};
  const std::string what = "log of choices: " + shared_->path;
  NEVE_TRY(files::sync_file(shared_->file.number(), what));
  return shared_->file.close(what);
}

}  // namespace neve::adios2_operator
