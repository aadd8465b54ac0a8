// SPDX-License-Identifier: BSD-3-Clause
// The directories around a plotfile's one file, made where AMReX's call would have made them: codes write
// particles, raw fields and job_info there afterwards.
#pragma once

#include <AMReX_ParallelDescriptor.H>

#include <filesystem>
#include <string>
#include <system_error>

#include "neve/amrex/agree.hpp"
#include "neve/status.hpp"

namespace neve::amrex::detail {

// "plt00000/" names what "plt00000" names.
inline std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Not collective. Makes `path` and what it lies in, on the rank that does AMReX's output. What is there
// already stays as it is.
inline Status make_directories_here(const std::string& path) {
  if (path.empty() || !::amrex::ParallelDescriptor::IOProcessor()) return {};
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (!fault && !std::filesystem::is_directory(path))
    fault = std::make_error_code(std::errc::not_a_directory);
  if (fault) return failure("cannot make the directory " + path + ": " + fault.message());
  return {};
}

// Collective; the same error on every rank.
inline Status make_directories(const std::string& path) {
  return agreed([&] { return make_directories_here(path); });
}

// A plotfile's own directory. It is made before the file is written, whose ranks then agree on it as well.
class PlotDirectory {
 public:
  // Not collective.
  Status make(const std::string& path) {
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(path, ignored);
    NEVE_TRY(make_directories_here(path));
    if (!is_there && ::amrex::ParallelDescriptor::IOProcessor()) made_ = path;
    return {};
  }

  // Collective, for where there is no file: what make() has made is gone for every rank, if it is empty.
  void take_back() {
    std::error_code ignored;
    if (!made_.empty()) std::filesystem::remove(made_, ignored);
    ::amrex::ParallelDescriptor::Barrier();
  }

 private:
  std::string made_;
};

}  // namespace neve::amrex::detail
