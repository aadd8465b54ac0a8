// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/bits/checksum.hpp"
#include "io/files/mode.hpp"
#include "io/files/write.hpp"
#include "io/plotfile/file.hpp"

namespace neve::datafile {
namespace {

namespace fs = std::filesystem;

constexpr const char* part_mark = ".neve-part";
constexpr const char* lock_name = "lock";
constexpr const char* log_suffix = ".log";
constexpr const char* log_head = "neve-part 1";

uint64_t text_checksum(const std::string& text) {
  return checksum(std::as_bytes(std::span(text.data(), text.size())));
}

// A line ends with the checksum of what stands before it: one that was half written is none.
std::string sealed(const std::string& text) { return fmt::format("{} {:016x}\n", text, text_checksum(text)); }

std::optional<std::string> unsealed(const std::string& line) {
  constexpr size_t seal_chars = 17;
  if (line.size() <= seal_chars) return {};
  std::string text = line.substr(0, line.size() - seal_chars);
  if (sealed(text) != line + "\n") return {};
  return text;
}

std::string head_text(uint64_t key) { return fmt::format("{} {:016x}", log_head, key); }

std::string record_text(const FrameRecord& r) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", r.variable, r.chunk, r.filter_mask, r.address, r.bytes,
                     r.checksum, std::bit_cast<uint64_t>(r.max_abs_error), static_cast<int>(r.codec),
                     static_cast<int>(r.method), std::bit_cast<uint64_t>(r.encode_seconds));
}

std::optional<FrameRecord> parse_record(const std::string& text) {
  FrameRecord r;
  uint64_t error_bits = 0, seconds_bits = 0;
  unsigned codec = 0, method = 0;
  std::istringstream in(text);
  in >> r.variable >> r.chunk >> r.filter_mask >> r.address >> r.bytes >> r.checksum >> error_bits >> codec >>
      method >> seconds_bits;
  if (in.fail()) return {};
  r.max_abs_error = std::bit_cast<double>(error_bits);
  r.encode_seconds = std::bit_cast<double>(seconds_bits);
  r.codec = static_cast<Codec>(codec);
  r.method = static_cast<LosslessMethod>(method);
  return r;
}

// The frames a log tells of; nothing where it belongs to another key.
std::optional<std::vector<FrameRecord>> read_log(const std::string& path, uint64_t key) {
  const Result<std::string> text = plotfile::read_text(path);
  if (!text.ok()) return {};
  std::istringstream lines(*text);
  std::string line;
  if (!std::getline(lines, line) || unsealed(line) != head_text(key)) return {};
  std::vector<FrameRecord> records;
  while (std::getline(lines, line)) {
    const auto record = unsealed(line);
    if (!record) break;
    if (const auto parsed = parse_record(*record)) records.push_back(*parsed);
  }
  return records;
}

// The number that a file's name begins with, and what follows it.
std::optional<std::pair<uint64_t, std::string>> generation_of(const std::string& name) {
  uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc()) return {};
  return std::pair(number, std::string(rest, end));
}

// Nobody else can have put anything there.
Status check_is_private(const std::string& folder) {
  struct stat found;
  constexpr mode_t others = 0077;
  if (::lstat(folder.c_str(), &found) != 0) return files::system_failure(folder);
  if (S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() && (found.st_mode & others) == 0) return {};
  return usage_error(
      folder +
      " is not a folder that only this user can access, as interrupted copies need it; move it away");
}

void remove_quietly(const std::string& path) {
  std::error_code ignored;  // what cannot be removed is found again by the next copy
  fs::remove(path, ignored);
}

}  // namespace

uint64_t frame_checksum(std::span<const std::byte> frame) { return checksum(frame); }

Result<Journal> Journal::beside(const std::string& target, uint64_t key, bool resume) {
  Journal journal;
  NEVE_ASSIGN(journal.target_, files::find_target(target));
  NEVE_TRY(files::check_is_file_or_nothing(journal.target_));
  journal.folder_ =
      (fs::path(journal.target_.folder) / files::hidden_name(journal.target_.name, part_mark)).string();
  NEVE_TRY(journal.enter_and_lock());
  Status begun = journal.find_earlier(key, resume);
  if (begun.ok()) begun = journal.start(key);
  if (!begun.ok()) {
    if (!journal.holds_frames()) journal.abandon();
    return begun;
  }
  return journal;
}

Status Journal::enter_and_lock() {
  const std::string path = path_of(lock_name);
  constexpr int max_attempts = 100;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
      return files::system_failure(target_.given + ": nothing can be written beside it");
    }
    NEVE_TRY(check_is_private(folder_));
    lock_ = files::Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock_.is_open()) {
      if (errno == ENOENT) continue;  // the copy before has just removed the folder
      const Status status = files::system_failure(path);
      ::rmdir(folder_.c_str());  // where nobody else has something in it
      return status;
    }
    if (::flock(lock_.number(), LOCK_EX | LOCK_NB) != 0) {
      return failure(target_.given + " is being written by another process");
    }
    // The one before may have removed the file between the two calls: then this lock keeps nobody out.
    struct stat locked, named;
    if (::fstat(lock_.number(), &locked) == 0 && ::stat(path.c_str(), &named) == 0 &&
        locked.st_ino == named.st_ino) {
      return {};
    }
  }
  return failure(target_.given + ": other processes keep writing it");
}

Status Journal::find_earlier(uint64_t key, bool resume) {
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const auto generation = generation_of(it->path().filename().string());
    if (!generation) continue;
    generation_ = std::max(generation_, generation->first + 1);
    if (generation->second != log_suffix) {
      earlier_files_.push_back(it->path().string());
      continue;
    }
    const std::string log = it->path().string();
    const std::string part = log.substr(0, log.size() - std::strlen(log_suffix));
    earlier_files_.push_back(log);
    const auto records = resume ? read_log(log, key) : std::nullopt;
    had_other_key_ |= !records;
    if (!records) continue;
    for (const FrameRecord& record : *records) earlier_.push_back({record, part});
  }
  if (error) return failure(folder_ + ": " + error.message());
  if (earlier_.empty()) forget_earlier();
  return {};
}

Status Journal::start(uint64_t key) {
  part_ = path_of(std::to_string(generation_));
  log_ = part_ + log_suffix;
  NEVE_ASSIGN(log_file_, files::create_file(log_));
  const std::string line = sealed(head_text(key));
  NEVE_TRY(files::write_fully(log_file_.number(), 0, std::as_bytes(std::span(line)), log_));
  log_bytes_ = static_cast<int64_t>(line.size());
  return {};
}

Status Journal::note(const FrameRecord& record) {
  const std::string line = sealed(record_text(record));
  NEVE_TRY(files::write_fully(log_file_.number(), log_bytes_, std::as_bytes(std::span(line)), log_));
  has_noted_ = true;
  log_bytes_ += static_cast<int64_t>(line.size());
  return {};
}

void Journal::forget_earlier() {
  for (const std::string& path : earlier_files_) remove_quietly(path);
  earlier_files_.clear();
  earlier_.clear();
}

Status Journal::commit() {
  NEVE_TRY(files::check_is_file_or_nothing(target_));
  NEVE_TRY(files::keep_mode(part_, target_.path));
  NEVE_TRY(files::sync_path(part_));
  if (::rename(part_.c_str(), target_.path.c_str()) != 0) {
    return files::system_failure("renaming " + part_ + " to " + target_.path);
  }
  abandon();
  return files::sync_path(target_.folder).in(target_.given + " is written, but its name may not last");
}

void Journal::abandon() {
  forget_earlier();
  remove_quietly(part_);
  remove_quietly(log_);
  remove_quietly(path_of(lock_name));
  ::rmdir(folder_.c_str());
}

}  // namespace neve::datafile
