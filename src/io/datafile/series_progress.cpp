// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/series_progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <bit>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/bits/checksum.hpp"
#include "core/select/series_state_text.hpp"
#include "io/files/temporary_file.hpp"
#include "io/plotfile/file.hpp"

namespace neve::datafile {
namespace {

constexpr const char* file_name = ".neve-series";
constexpr std::string_view format_name = "neve-series ";
constexpr const char* first_line = "neve-series 1";

uint64_t text_checksum(const std::string& text) { return checksum(std::as_bytes(std::span(text))); }

// What tells a file and its state from any other; empty where there is none.
std::string identity_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {} {} {}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

std::string identity_of(const SeriesFile& file) {
  const std::string source = identity_of(file.source), target = identity_of(file.target);
  return source.empty() || target.empty() ? std::string() : source + " " + target;
}

// The text behind its checksum; nothing where that is another's.
std::optional<std::string> unsealed(const std::string& sealed) {
  const size_t end = sealed.find('\n');
  if (end == std::string::npos) return {};
  std::string text = sealed.substr(end + 1);
  if (sealed.substr(0, end) != fmt::format("{:016x}", text_checksum(text))) return {};
  return text;
}

// A variable's path stands last, as bytes in hexadecimal: it may hold anything.
std::string choice_text(const StepChoice& of) {
  const Choice& c = of.choice;
  std::vector<unsigned> name;
  for (const char byte : c.variable) name.push_back(static_cast<unsigned char>(byte));
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {:02x}",
                     static_cast<int>(of.effort), static_cast<int>(of.is_coded), c.level, c.step,
                     static_cast<int>(c.selection.codec), static_cast<int>(c.selection.arrangement),
                     static_cast<int>(c.selection.method), static_cast<int>(c.reason), bits(c.performance),
                     bits(c.estimate), static_cast<int>(c.rival.codec), static_cast<int>(c.rival.arrangement),
                     static_cast<int>(c.rival.method), bits(c.rival_estimate), c.raw_bytes, c.coded_bytes,
                     c.choosing_ns, c.coding_ns, c.variable.size(), fmt::join(name, ""));
}

// The next number of a line, as the type that it stands for.
template <class T>
T next(std::istream& in) {
  uint64_t number = 0;
  in >> number;
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(number);
  } else {
    return static_cast<T>(number);
  }
}

Selection next_selection(std::istream& in) {
  Selection selection;
  selection.codec = next<Codec>(in);
  selection.arrangement = next<Arrangement>(in);
  selection.method = next<LosslessMethod>(in);
  return selection;
}

std::optional<StepChoice> parse_choice(const std::string& line) {
  std::istringstream in(line);
  StepChoice of;
  Choice& c = of.choice;
  of.effort = next<Effort>(in);
  of.is_coded = next<uint64_t>(in) != 0;
  c.level = next<int>(in);
  c.step = next<uint64_t>(in);
  c.selection = next_selection(in);
  c.reason = next<ChoiceReason>(in);
  c.performance = next<double>(in);
  c.estimate = next<double>(in);
  c.rival = next_selection(in);
  c.rival_estimate = next<double>(in);
  c.raw_bytes = next<uint64_t>(in);
  c.coded_bytes = next<uint64_t>(in);
  c.choosing_ns = next<uint64_t>(in);
  c.coding_ns = next<uint64_t>(in);
  const auto bytes = next<size_t>(in);
  std::string hex;
  in >> hex;
  if (in.fail() || hex.size() != 2 * bytes) return {};
  for (size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(&hex[i], &hex[i] + 2, value, 16);
    c.variable.push_back(static_cast<char>(value));
  }
  return of;
}

// Variables of which the memory knows something, at the effort that they are coded with.
std::set<std::pair<Effort, std::string>> variables_of(const std::vector<StepChoice>& choices) {
  std::set<std::pair<Effort, std::string>> variables;
  for (const StepChoice& of : choices) variables.emplace(of.effort, of.choice.variable);
  return variables;
}

}  // namespace

SeriesProgress::SeriesProgress(std::string folder, std::string key, std::vector<SeriesFile> files)
    : path_((std::filesystem::path(std::move(folder)) / file_name).string()),
      key_(std::move(key)),
      files_(std::move(files)) {}

Status SeriesProgress::check_place(const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string path = (fs::path(folder) / file_name).string();
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) return {};
  const Status foreign = usage_error(
      fmt::format("{} is not what an interrupted series leaves; move it away, or name another folder", path));
  if (!fs::is_regular_file(status)) return foreign;
  NEVE_ASSIGN(const std::string text, plotfile::read_text(path));
  const size_t second_line = text.find('\n');
  const bool is_ours = second_line != std::string::npos &&
                       std::string_view(text).substr(second_line + 1).starts_with(format_name);
  return is_ours ? Status() : foreign;
}

std::string SeriesProgress::head() const {
  std::string all = key_;
  for (const SeriesFile& file : files_) all += "\n" + file.source + "\n" + file.target;
  return fmt::format("{} {:016x}", first_line, text_checksum(all));
}

size_t SeriesProgress::find(SelectionMemory& memory, bool& was_another) {
  was_another = false;
  const Result<std::string> sealed = plotfile::read_text(path_);
  if (!sealed.ok()) return 0;
  const auto text = unsealed(*sealed);
  std::istringstream lines(text.value_or(""));
  std::string line;
  was_another = !std::getline(lines, line) || line != head();
  if (was_another) return 0;
  size_t done = 0;
  if (!(lines >> done) || done > files_.size() || !std::getline(lines, line)) return 0;
  // A memory of later files does not serve one that is to be made again: then all of them are.
  for (size_t f = 0; f < done; ++f) {
    if (!std::getline(lines, line) || line.empty() || line != identity_of(files_[f])) return 0;
  }
  std::vector<StepChoice> choices;
  while (std::getline(lines, line) && !line.empty()) {
    const auto choice = parse_choice(line);
    if (!choice) return 0;
    choices.push_back(*choice);
  }
  for (const auto& [effort, variable] : variables_of(choices)) {
    const bool is_there = static_cast<bool>(std::getline(lines, line));
    if (!is_there || !read_series_state(line, memory.rules(), *memory.series(effort, variable)).ok())
      return 0;
  }
  for (const StepChoice& of : choices) memory.log(of.choice);
  done_ = done;
  choices_ = std::move(choices);
  return done_;
}

Status SeriesProgress::note(const std::vector<StepChoice>& choices, SelectionMemory& memory) {
  ++done_;
  choices_.insert(choices_.end(), choices.begin(), choices.end());
  std::string text = fmt::format("{}\n{}\n", head(), done_);
  for (size_t f = 0; f < done_; ++f) text += identity_of(files_[f]) + "\n";
  for (const StepChoice& of : choices_) text += choice_text(of) + "\n";
  text += "\n";
  for (const auto& [effort, variable] : variables_of(choices_))
    text += series_state_text(*memory.series(effort, variable)) + "\n";
  const std::string sealed = fmt::format("{:016x}\n{}", text_checksum(text), text);
  return files::write_file(path_, std::as_bytes(std::span(sealed)));
}

void SeriesProgress::remove() const {
  std::error_code ignored;  // what cannot be removed tells the next series that it was another
  std::filesystem::remove(path_, ignored);
}

}  // namespace neve::datafile
