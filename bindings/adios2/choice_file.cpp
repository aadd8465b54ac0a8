// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/adios2/choice_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "neve/series.hpp"

namespace neve::adios2_operator {

struct ChoiceFile::Shared {
  std::mutex mutex;
  std::string path, rules;
  std::string lines;
  int names = 0;
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

// Under another name first: a file that is there is whole.
Status write_whole(const std::string& path, const std::string& text) {
  const std::string draft = fmt::format("{}.{}.tmp", path, getpid());
  const auto failed = [&](const char* what) {
    const Status status = failure(fmt::format("log of choices {}: {}: {}", path, what, std::strerror(errno)));
    std::remove(draft.c_str());
    return status;
  };
  std::FILE* const file = std::fopen(draft.c_str(), "w");
  if (file == nullptr) return failed("cannot be made");
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !is_written) return failed("cannot be written");
  if (std::rename(draft.c_str(), path.c_str()) != 0) return failed("cannot get its name");
  return {};
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

Status ChoiceFile::add(const std::vector<Choice>& choices) {
  if (choices.empty()) return {};
  const std::lock_guard lock(shared_->mutex);
  for (const Choice& choice : choices) shared_->lines += line_of(choice);
  return write_whole(shared_->path, first_line + shared_->rules + "\n" + columns + shared_->lines);
}

}  // namespace neve::adios2_operator
