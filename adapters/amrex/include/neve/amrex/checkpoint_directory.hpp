// SPDX-License-Identifier: BSD-3-Clause
// A directory that appears under its name when it is whole. Rank 0 acts, the others know the names; not
// collective.
#pragma once

#include <AMReX_ParallelDescriptor.H>
#include <AMReX_Utility.H>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

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
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
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

class CheckpointDirectory {
 public:
  explicit CheckpointDirectory(std::string target) : target_(std::move(target)) {
    while (target_.size() > 1 && target_.back() == '/') target_.pop_back();
  }
  CheckpointDirectory(const CheckpointDirectory&) = delete;
  CheckpointDirectory& operator=(const CheckpointDirectory&) = delete;
  ~CheckpointDirectory() {
    std::error_code ignored;  // nothing to be done about what cannot be removed
    if (created_) std::filesystem::remove_all(temporary_path(), ignored);
  }

  std::string temporary_path() const { return target_ + ".temp"; }

  Status create() {
    if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
    std::error_code error;
    std::filesystem::remove_all(temporary_path(), error);  // of a run that was killed
    if (!error) created_ = std::filesystem::create_directories(temporary_path(), error);
    return error ? failure(temporary_path() + ": " + error.message()) : Status();
  }

  Status commit(const std::string& header) {
    if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
    if (!header.empty()) NEVE_TRY(write_text(temporary_path() + "/Header", header));
    NEVE_TRY(make_durable(temporary_path()));
    std::error_code error;
    const std::string moved_away = target_ + ".old." + ::amrex::UniqueString();
    const bool replaces = std::filesystem::exists(target_, error);
    if (replaces) std::filesystem::rename(target_, moved_away, error);
    if (!error) std::filesystem::rename(temporary_path(), target_, error);
    if (error) {
      std::error_code ignored;  // the first error is the one to report
      if (replaces && !std::filesystem::exists(target_, ignored)) {
        std::filesystem::rename(moved_away, target_, ignored);
      }
      return failure(target_ + ": " + error.message());
    }
    created_ = false;
    const std::string parent = std::filesystem::path(target_).parent_path().string();
    return make_durable(parent.empty() ? "." : parent);
  }

 private:
  std::string target_;
  bool created_ = false;
};

}  // namespace neve::amrex::detail
