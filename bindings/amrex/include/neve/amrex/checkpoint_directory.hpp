// SPDX-License-Identifier: BSD-3-Clause
// A directory that appears under its name when it is whole. The rank that does AMReX's input and output acts,
// the others know the names.
#pragma once

#include <AMReX_ParallelDescriptor.H>
#include <AMReX_Utility.H>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "neve/status.hpp"

namespace neve::amrex::detail {

inline Status file_failure(const std::string& path, int error) {
  return failure(path + ": " + std::strerror(error));
}

// What the file system holds of it survives a crash of the machine.
inline Status make_durable(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0) return file_failure(path, errno);
  const int error = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  return error == 0 ? Status() : file_failure(path, error);
}

inline Status write_text(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (file < 0) return file_failure(path, errno);
  int error = 0;
  for (size_t done = 0; done < text.size() && error == 0;) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count > 0) done += static_cast<size_t>(count);
    if (count < 0 && errno != EINTR) error = errno;
  }
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  return error == 0 ? Status() : file_failure(path, error);
}

// It is made in a folder beside the target that is this user's alone, under a name that nobody can know
// before, and locked while it is used: what a killed run left is nobody's any more, and goes with the next
// write.
class CheckpointDirectory {
 public:
  explicit CheckpointDirectory(std::string target) : target_(std::move(target)) {
    while (target_.size() > 1 && target_.back() == '/') target_.pop_back();
  }
  CheckpointDirectory(const CheckpointDirectory&) = delete;
  CheckpointDirectory& operator=(const CheckpointDirectory&) = delete;
  ~CheckpointDirectory() { clear(); }

  std::string temporary_path() const { return private_path() + "/new"; }

  // What is left of the folder. To be called before the ranks meet for the last time: they all find it gone.
  void clear() {
    if (lock_ < 0) return;
    remove(private_path());
    ::close(lock_);
    lock_ = -1;
  }

  // Collective.
  Status create() {
    Status made = try_make();
    ::amrex::ParallelDescriptor::Bcast(random_.data(), random_.size(),
                                       ::amrex::ParallelDescriptor::IOProcessorNumber());
    return made;
  }

  Status commit(const std::string& header) {
    if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
    if (!header.empty()) NEVE_TRY(write_text(temporary_path() + "/Header", header));
    return publish(temporary_path());
  }

  // For a directory that somebody else has made, temporary_path()/`name`.
  Status commit_inside(const std::string& name) {
    if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
    return publish(temporary_path() + "/" + name);
  }

 private:
  // `whole` gets the target's name.
  Status publish(const std::string& whole) {
    std::error_code error;
    const bool replaces = std::filesystem::exists(target_, error);
    if (replaces) {
      const auto mode = std::filesystem::status(target_, error).permissions();
      if (!error) std::filesystem::permissions(whole, mode, error);
    }
    NEVE_TRY(make_durable(whole));
    const std::string moved_away = target_ + ".old." + ::amrex::UniqueString();
    if (!replaces || !exchange_through(moved_away, whole)) {
      if (replaces) std::filesystem::rename(target_, moved_away, error);
      if (!error) std::filesystem::rename(whole, target_, error);
    }
    if (error) {
      std::error_code ignored;  // the first error is the one to report
      if (replaces && !std::filesystem::exists(target_, ignored)) {
        std::filesystem::rename(moved_away, target_, ignored);
      }
      return failure(target_ + ": " + error.message());
    }
    NEVE_TRY(make_durable(parent()));
    clear();
    return {};
  }

  // If the file system can: the target's name leads to one of the two at any moment, and the earlier one is
  // under a name that nobody clears away.
  bool exchange_through([[maybe_unused]] const std::string& other,
                        [[maybe_unused]] const std::string& whole) {
#ifdef RENAME_EXCHANGE
    std::error_code error;
    std::filesystem::rename(whole, other, error);
    if (error) return false;
    if (::renameat2(AT_FDCWD, other.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return true;
    std::filesystem::rename(other, whole, error);
#endif
    return false;
  }

  std::string parent() const {
    const std::string path = std::filesystem::path(target_).parent_path().string();
    return path.empty() ? "." : path;
  }
  std::string stem() const {
    std::string name = ".";
    name += std::filesystem::path(target_).filename().string();
    return name += ".neve-tmp-";
  }
  std::string private_path() const {
    return parent() + "/" + stem() + std::string(random_.data(), random_.size());
  }

  // Of rank 0. The others wait for it, whatever happens.
  Status try_make() {
    if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
    try {
      return make();
    } catch (const std::exception& e) {
      return failure(target_ + ": " + e.what());
    }
  }

  Status make() {
    std::error_code error;
    std::filesystem::create_directories(parent(), error);
    if (error) return failure(parent() + ": " + error.message());
    remove_left_behind();
    std::string name = parent() + "/" + stem() + "XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) return file_failure(name, errno);
    std::copy(name.end() - static_cast<std::ptrdiff_t>(random_.size()), name.end(), random_.begin());
    lock_ = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0) return file_failure(name, errno);
    if (::mkdir(temporary_path().c_str(), 0777) != 0) return file_failure(temporary_path(), errno);
    return {};
  }

  // Best effort: what cannot be looked at or removed stays.
  void remove_left_behind() const {
    std::error_code error;
    std::vector<std::string> found;
    const std::string begin = stem();
    for (std::filesystem::directory_iterator it(parent(), error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (name.size() == begin.size() + random_.size() && name.compare(0, begin.size(), begin) == 0) {
        found.push_back(it->path().string());
      }
    }
    for (const std::string& path : found) {
      const int lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      struct stat info;
      const bool is_nobodys = lock >= 0 && ::fstat(lock, &info) == 0 && info.st_uid == ::geteuid() &&
                              (info.st_mode & 0077) == 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0;
      if (is_nobodys) remove(path);
      if (lock >= 0) ::close(lock);
    }
  }

  static void remove(const std::string& path) {
    std::error_code ignored;  // nothing to be done about what cannot be removed
    std::filesystem::remove_all(path + "/new", ignored);
    ::rmdir(path.c_str());  // stays where something else lies in it
  }

  std::string target_;
  std::array<char, 6> random_{};
  int lock_ = -1;  // of the rank that acts
};

}  // namespace neve::amrex::detail
