// SPDX-License-Identifier: BSD-3-Clause
// Restart of codes built on AMReX's Amr and AmrLevel from the checkpoints of amr_checkpoint.hpp.
#pragma once

#include <AMReX_MultiFab.H>
#include <AMReX_VisMF.H>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "neve/amrex/agree.hpp"
#include "neve/amrex/amr_checkpoint.hpp"
#include "neve/amrex/checkpoint.hpp"
#include "neve/amrex/plot_directory.hpp"
#include "neve/plotfile_reader.hpp"

namespace neve::amrex::detail {

// Collective. The states that a checkpoint holds as Neve's files; none where it is AMReX's own.
inline Result<std::vector<SavedState>> find_saved_states(const std::string& checkpoint) {
  const int states = ::amrex::AmrLevel::get_desc_lst().size();
  ::amrex::Vector<int> found(2 * static_cast<size_t>(states), 0);  // of each state the new, then the old one
  const Status looked = agreed([&]() -> Status {
    if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
    for (int i = 0; i < 2 * states; ++i) {
      found[i] = std::filesystem::exists(checkpoint + "/" + SavedState{i / 2, i % 2 == 1}.file()) ? 1 : 0;
    }
    return {};
  });
  NEVE_TRY(looked);
  ::amrex::ParallelDescriptor::Bcast(found.data(), found.size(),
                                     ::amrex::ParallelDescriptor::IOProcessorNumber());
  std::vector<SavedState> saved;
  for (int i = 0; i < 2 * states; ++i) {
    if (found[i] != 0) saved.push_back({i / 2, i % 2 == 1});
  }
  return saved;
}

// The simulation's time, which the Header has in its third line.
inline double time_in_header(const std::string& text) {
  size_t at = 0;
  for (int line = 0; line < 2; ++line) {
    at = text.find('\n', at);
    if (at == std::string::npos) return std::numeric_limits<double>::quiet_NaN();
    ++at;
  }
  return std::strtod(text.c_str() + at, nullptr);
}

// Whether a state's file is of the time that the Header has.
inline Status check_time(const std::string& checkpoint, const SavedState& state, const std::string& header) {
  NEVE_ASSIGN(const std::unique_ptr<PlotfileSource> source, open_plotfile(checkpoint + "/" + state.file()));
  const double found = source->hierarchy().time, expected = time_in_header(header);
  if (found == expected) return {};
  return usage_error(state.file() + " is of time " + formatted("%.17g", found) + ", Header of " +
                     formatted("%.17g", expected) + ": they are not of one checkpoint");
}

// Whether the Header has the boxes of a state's file.
inline Status check_boxes(const SavedState& state, int level, const ::amrex::MultiFab& values,
                          const std::string& header) {
  std::ostringstream boxes;
  values.boxArray().writeOn(boxes);
  if (header.find(boxes.str()) != std::string::npos) return {};
  return usage_error(state.file() + " has other boxes on level " + std::to_string(level) +
                     " than Header: they are not of one checkpoint");
}

// Whether each state that the Header names is there, as Neve's file or as AMReX's.
inline Status check_all_there(const std::string& checkpoint, int nlevels, const std::string& header) {
  const int states = ::amrex::AmrLevel::get_desc_lst().size();
  for (int i = 0; i < 2 * states; ++i) {
    const SavedState state{i / 2, i % 2 == 1};
    for (int l = 0; l < nlevels; ++l) {
      const std::string name = state.name_in_header(l);
      const bool is_named = header.find("\n" + name + "\n") != std::string::npos;
      if (!is_named || std::filesystem::exists(checkpoint + "/" + state.file()) ||
          std::filesystem::exists(checkpoint + "/" + name + "_H")) {
        continue;
      }
      return usage_error(state.file() + ", of which Header has level " + std::to_string(l) + ", is missing");
    }
  }
  return {};
}

// The checkpoint's Header for AMReX to read, with the MultiFabs in `folder`. AMReX looks for them from the
// checkpoint on, so their names lead from there.
inline Status write_header_of(const std::string& checkpoint, const std::vector<SavedState>& saved,
                              int nlevels, std::string text, const std::string& folder) {
  const std::string way =
      std::filesystem::relative(std::filesystem::canonical(folder), std::filesystem::canonical(checkpoint))
          .string();
  if (way.find_first_of(" \t\n") != std::string::npos) {
    return usage_error("amr.check_file: the way to it from the checkpoint, " + way +
                       ", has a space, with which AMReX reads no name");
  }
  for (const SavedState& state : saved) {
    for (int l = 0; l < nlevels; ++l) {
      const std::string line = "\n" + state.name_in_header(l) + "\n";
      const size_t at = text.find(line);
      if (at != std::string::npos) text.insert(at + 1, way + "/");
    }
  }
  return write_text(folder + "/Header", text);
}

// AMReX's writer does not tell of a full disk.
inline Status check_unpacked(const ::amrex::MultiFab& values, const std::string& path) {
  uintmax_t needed = 0, found = 0;
  const auto value_bytes = static_cast<uintmax_t>(values.nComp()) * sizeof(::amrex::Real);
  for (int b = 0; b < values.size(); ++b) {
    needed += static_cast<uintmax_t>(values.fabbox(b).numPts()) * value_bytes;
  }
  const std::filesystem::path place(path);
  const std::string begin = place.filename().string() + "_D_";
  for (const auto& entry : std::filesystem::directory_iterator(place.parent_path())) {
    if (entry.path().filename().string().compare(0, begin.size(), begin) == 0) found += entry.file_size();
  }
  if (found >= needed) return {};
  return failure("only " + std::to_string(found) + " bytes of " + std::to_string(needed) + " arrived in " +
                 path + "; a restart needs room for the values as they are");
}

// Collective. The values of one state, as AMReX's own files in `folder`. `header`: of the rank that does
// AMReX's input.
inline Status unpack_state(const std::string& checkpoint, const SavedState& state, int nlevels,
                           const std::string& header, const std::string& folder) {
  std::vector<::amrex::MultiFab> values(static_cast<size_t>(nlevels));
  RestartField field{state.name(), {}};
  for (::amrex::MultiFab& mf : values) field.levels.push_back(&mf);
  NEVE_TRY(TryReadCheckpoint(checkpoint, nlevels, {field}));
  for (int l = 0; l < nlevels; ++l) {
    const std::string path = folder + "/" + state.name_in_header(l);
    const ::amrex::MultiFab& of_level = values[static_cast<size_t>(l)];
    ::amrex::VisMF::Write(of_level, path);
    const Status checked = agreed([&]() -> Status {
      if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
      NEVE_TRY(check_boxes(state, l, of_level, header));
      return check_unpacked(of_level, path);
    });
    NEVE_TRY(checked);
  }
  return {};
}

// What the rank that does AMReX's input reads and makes before the values are unpacked.
inline Status begin_unpacking(const std::string& checkpoint, const std::vector<SavedState>& saved,
                              const std::string& folder, int& nlevels, std::string& header) {
  NEVE_ASSIGN(const std::unique_ptr<PlotfileSource> first,
              open_plotfile(checkpoint + "/" + saved.front().file()));
  nlevels = static_cast<int>(first->hierarchy().levels.size());
  if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
  NEVE_ASSIGN(header, read_text(checkpoint + "/Header"));
  NEVE_TRY(check_all_there(checkpoint, nlevels, header));
  for (const SavedState& state : saved) NEVE_TRY(check_time(checkpoint, state, header));
  for (int l = 0; l < nlevels; ++l) {
    NEVE_TRY(make_directories_here(folder + "/Level_" + std::to_string(l)));
  }
  return write_header_of(checkpoint, saved, nlevels, header, folder);
}

// Collective. A folder from which Amr::restart goes on.
inline Status unpack_states(const std::string& checkpoint, const std::vector<SavedState>& saved,
                            const std::string& folder) {
  int nlevels = 0;
  std::string header;
  NEVE_TRY(agreed([&] { return begin_unpacking(checkpoint, saved, folder, nlevels, header); }));
  const ::amrex::FABio::Format format = ::amrex::FArrayBox::getFormat();
  ::amrex::FArrayBox::setFormat(::amrex::FABio::FAB_NATIVE);  // every bit, whatever fab.format says
  Status status;
  for (const SavedState& state : saved) {
    Status next = unpack_state(checkpoint, state, nlevels, header, folder);
    std::swap(status, next);
    if (!status.ok()) break;
  }
  ::amrex::FArrayBox::setFormat(format);
  return status;
}

}  // namespace neve::amrex::detail
