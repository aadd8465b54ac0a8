// SPDX-License-Identifier: BSD-3-Clause
// Restart of codes built on AMReX's Amr and AmrLevel from the checkpoints of amr_checkpoint.hpp.
#pragma once

#include <AMReX_MultiFab.H>
#include <AMReX_VisMF.H>

#include <cstdint>
#include <filesystem>
#include <memory>
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
  std::vector<SavedState> saved;
  const ::amrex::DescriptorList& states = ::amrex::AmrLevel::get_desc_lst();
  NEVE_TRY(agreed([&]() -> Status {
    for (int type = 0; type < states.size(); ++type) {
      for (const bool is_old : {false, true}) {
        const SavedState state{type, is_old};
        if (std::filesystem::exists(checkpoint + "/" + state.file())) saved.push_back(state);
      }
    }
    return {};
  }));
  return saved;
}

// The checkpoint's Header for AMReX to read, with the MultiFabs in `folder`. AMReX looks for them from the
// checkpoint on, so their names lead from there.
inline Status write_header_of(const std::string& checkpoint, const std::vector<SavedState>& saved,
                              int nlevels, const std::string& folder) {
  if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
  NEVE_ASSIGN(std::string text, read_text(checkpoint + "/Header"));
  const std::string way =
      std::filesystem::relative(std::filesystem::canonical(folder), std::filesystem::canonical(checkpoint))
          .string();
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
  if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
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

// Collective. The values of one state, as AMReX's own files in `folder`.
inline Status unpack_state(const std::string& checkpoint, const SavedState& state, int nlevels,
                           const std::string& folder) {
  std::vector<::amrex::MultiFab> values(static_cast<size_t>(nlevels));
  RestartField field{state.name(), {}};
  for (::amrex::MultiFab& mf : values) field.levels.push_back(&mf);
  NEVE_TRY(TryReadCheckpoint(checkpoint, nlevels, {field}));
  for (int l = 0; l < nlevels; ++l) {
    const std::string path = folder + "/" + state.name_in_header(l);
    const ::amrex::MultiFab& of_level = values[static_cast<size_t>(l)];
    ::amrex::VisMF::Write(of_level, path);
    NEVE_TRY(agreed([&] { return check_unpacked(of_level, path); }));
  }
  return {};
}

// Collective. A folder from which Amr::restart goes on.
inline Status unpack_states(const std::string& checkpoint, const std::vector<SavedState>& saved,
                            const std::string& folder) {
  int nlevels = 0;
  const Status begun = agreed([&]() -> Status {
    NEVE_ASSIGN(const std::unique_ptr<PlotfileSource> first,
                open_plotfile(checkpoint + "/" + saved.front().file()));
    nlevels = static_cast<int>(first->hierarchy().levels.size());
    for (int l = 0; l < nlevels; ++l) {
      NEVE_TRY(make_directories_here(folder + "/Level_" + std::to_string(l)));
    }
    return write_header_of(checkpoint, saved, nlevels, folder);
  });
  NEVE_TRY(begun);
  const ::amrex::FABio::Format format = ::amrex::FArrayBox::getFormat();
  ::amrex::FArrayBox::setFormat(::amrex::FABio::FAB_NATIVE);  // every bit, whatever fab.format says
  Status status;
  for (const SavedState& state : saved) {
    Status next = unpack_state(checkpoint, state, nlevels, folder);
    std::swap(status, next);
    if (!status.ok()) break;
  }
  ::amrex::FArrayBox::setFormat(format);
  return status;
}

}  // namespace neve::amrex::detail
