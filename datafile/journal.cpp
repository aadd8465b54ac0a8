// SPDX-License-Identifier: BSD-3-Clause
#include "datafile/journal.hpp"

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

#include "format/checksum.hpp"
#include "plotfile/file.hpp"

namespace neve::datafile {
namespace {

namespace fs = std::filesystem;

constexpr const char* part_mark = ".neve-part-";
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

// The number behind `stem` in a file's name, with what follows it.
std::optional<std::pair<uint64_t, std::string>> generation_of(const std::string& name,
                                                              const std::string& stem) {
  if (!name.starts_with(stem)) return {};
  uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + stem.size(), end, number);
  if (error != std::errc()) return {};
  return std::pair(number, std::string(rest, end));
}

void remove_quietly(const std::string& path) {
  std::error_code ignored;  // what cannot be removed is found again by the next copy
  fs::remove(path, ignored);
}

Status system_error(const std::string& what) { return failure(what + ": " + std::strerror(errno)); }

}  // namespace

uint64_t frame_checksum(std::span<const std::byte> frame) { return checksum(frame); }

Result<Journal> Journal::beside(const std::string& target, uint64_t key, bool resume) {
  std::error_code error;
  fs::path path = target;
  if (fs::is_symlink(path, error)) {
    path = fs::canonical(path, error);
    if (error) return failure(target + ": following the symbolic link: " + error.message());
  }
  if (!path.has_filename()) return usage_error(target + " does not name a file");
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    return usage_error(target + " exists and is not a regular file; only a file can be replaced");
  }
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(directory, error)) {
    return failure(target + ": directory " + directory.string() + " does not exist");
  }
  Journal journal;
  journal.target_ = path.string();
  journal.stem_ = (directory / fmt::format(".{}{}", path.filename().string(), part_mark)).string();
  NEVE_TRY(journal.find_earlier(key, resume));
  NEVE_TRY(journal.start(key));
  return journal;
}

Status Journal::lock() {
  const std::string path = stem_ + "lock";
  while (true) {
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) return system_error(target_ + ": nothing can be written beside it");
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      ::close(std::exchange(lock_, -1));
      return failure(target_ + " is being written by another process");
    }
    // The one before may have removed the file between the two calls: then this lock keeps nobody out.
    struct stat locked {
    }, named{};
    if (::fstat(lock_, &locked) == 0 && ::stat(path.c_str(), &named) == 0 && locked.st_ino == named.st_ino) {
      return {};
    }
    ::close(std::exchange(lock_, -1));
  }
}

Status Journal::find_earlier(uint64_t key, bool resume) {
  const fs::path stem = stem_;
  NEVE_TRY(lock());
  std::error_code error;
  std::vector<std::string> useless;
  for (fs::directory_iterator it(stem.parent_path(), error), end; !error && it != end; it.increment(error)) {
    const auto generation = generation_of(it->path().filename().string(), stem.filename().string());
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
  if (error) return failure(stem.parent_path().string() + ": " + error.message());
  if (earlier_.empty()) forget_earlier();
  return {};
}

Status Journal::start(uint64_t key) {
  part_ = fmt::format("{}{}", stem_, generation_);
  log_ = part_ + log_suffix;
  log_file_ = ::open(log_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (log_file_ < 0) return system_error(log_ + " cannot be made");
  const std::string line = sealed(head_text(key));
  NEVE_TRY(plotfile::write_fully(log_file_, 0, std::as_bytes(std::span(line.data(), line.size())), log_));
  log_bytes_ = static_cast<int64_t>(line.size());
  return {};
}

Journal::Journal(Journal&& other) noexcept
    : target_(std::move(other.target_)),
      stem_(std::move(other.stem_)),
      part_(std::move(other.part_)),
      log_(std::move(other.log_)),
      lock_(std::exchange(other.lock_, -1)),
      log_file_(std::exchange(other.log_file_, -1)),
      log_bytes_(other.log_bytes_),
      generation_(other.generation_),
      earlier_files_(std::move(other.earlier_files_)),
      earlier_(std::move(other.earlier_)),
      had_other_key_(other.had_other_key_) {}

Journal::~Journal() {
  if (log_file_ >= 0) ::close(log_file_);
  if (lock_ >= 0) ::close(lock_);
}

Status Journal::note(const FrameRecord& record) {
  const std::string line = sealed(record_text(record));
  NEVE_TRY(
      plotfile::write_fully(log_file_, log_bytes_, std::as_bytes(std::span(line.data(), line.size())), log_));
  log_bytes_ += static_cast<int64_t>(line.size());
  return {};
}

void Journal::forget_earlier() {
  for (const std::string& path : earlier_files_) remove_quietly(path);
  earlier_files_.clear();
  earlier_.clear();
}

Status Journal::commit() {
  NEVE_TRY(plotfile::sync_path(part_));
  if (::rename(part_.c_str(), target_.c_str()) != 0) {
    return system_error("renaming " + part_ + " to " + target_);
  }
  const fs::path parent = fs::path(target_).parent_path();
  abandon();
  return plotfile::sync_path(parent.empty() ? "." : parent.string())
      .in(target_ + " is written, but its name may not last");
}

void Journal::abandon() {
  forget_earlier();
  remove_quietly(part_);
  remove_quietly(log_);
  remove_quietly(stem_ + "lock");
}

}  // namespace neve::datafile
