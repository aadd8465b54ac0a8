// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of codes built on AMReX's Amr and AmrLevel: AMReX's own directory and text, and one Neve file
// for each of the states' MultiFabs in place of AMReX's.
#pragma once

#include <AMReX_Amr.H>
#include <AMReX_AmrLevel.H>
#include <AMReX_StateDescriptor.H>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "neve/amrex/agree.hpp"
#include "neve/amrex/checkpoint.hpp"
#include "neve/amrex/inputs.hpp"

namespace neve::amrex::detail {

// AMReX tells nobody how to write a checkpoint without values but StateDescriptor, when it is made.
// [temp.spec] lets an explicit instantiation name what is private.
template <bool ::amrex::StateDescriptor::*Stored>
struct StateDescriptorAccess {
  friend bool& is_stored(::amrex::StateDescriptor& state) { return state.*Stored; }
};
bool& is_stored(::amrex::StateDescriptor& state);
template struct StateDescriptorAccess<&::amrex::StateDescriptor::m_store_in_checkpoint>;

inline constexpr int no_state = -1;

// While it lives, AmrLevel::checkPoint writes no state's values, but of one.
class StatesLeftOut {
 public:
  explicit StatesLeftOut(int but = no_state) {
    const ::amrex::DescriptorList& states = ::amrex::AmrLevel::get_desc_lst();
    for (int type = 0; type < states.size(); ++type) {
      if (!states[type].store_in_checkpoint() || type == but) continue;
      changed_.push_back(&is_stored(const_cast<::amrex::StateDescriptor&>(states[type])));
      *changed_.back() = false;
    }
  }
  StatesLeftOut(const StatesLeftOut&) = delete;
  StatesLeftOut& operator=(const StatesLeftOut&) = delete;
  ~StatesLeftOut() {
    for (bool* const stored : changed_) *stored = true;
  }

 private:
  std::vector<bool*> changed_;
};

// A state's values at one time. AMReX calls them SD_<type>_New_MF and SD_<type>_Old_MF, in each level's
// folder; here they are one file, SD_<type>_New.h5, for all levels.
struct SavedState {
  int type = 0;
  bool is_old = false;

  std::string name() const { return "SD_" + std::to_string(type) + (is_old ? "_Old" : "_New"); }
  std::string file() const { return name() + ".h5"; }
  // As the text Header has it.
  std::string name_in_header(int level) const {
    return "Level_" + std::to_string(level) + "/" + name() + "_MF";
  }
};

inline bool has_old(::amrex::AmrLevel& level, int type) { return level.get_state_data(type).hasOldData(); }

// Of the components; none where the code has not given each its own.
inline ::amrex::Vector<std::string> names_of(const ::amrex::StateDescriptor& state) {
  ::amrex::Vector<std::string> names;
  std::set<std::string> seen;
  for (int c = 0; c < state.nComp(); ++c) {
    const std::string name = state.name(c);
    if (name.empty() || name.find('\n') != std::string::npos || !seen.insert(name).second) return {};
    names.push_back(name);
  }
  return names;
}

// Of all levels. Where just some levels have old values, the others' stand in the file with their new ones,
// which the Header does not name.
inline CheckpointField field_of(::amrex::Amr& amr, const SavedState& saved, Bound bound) {
  CheckpointField field{saved.name(), {}, bound, false, {}};
  for (int l = 0; l <= amr.finestLevel(); ++l) {
    ::amrex::AmrLevel& level = amr.getLevel(l);
    const bool takes_old = saved.is_old && has_old(level, saved.type);
    field.levels.push_back(takes_old ? &level.get_old_data(saved.type) : &level.get_new_data(saved.type));
    field.ghosts = field.ghosts || field.levels.back()->nGrowVect() != ::amrex::IntVect(0);
  }
  field.components = names_of(::amrex::AmrLevel::get_desc_lst()[saved.type]);
  return field;
}

inline bool has_old(::amrex::Amr& amr, int type) {
  bool any = false;
  for (int l = 0; l <= amr.finestLevel(); ++l) any = any || has_old(amr.getLevel(l), type);
  return any;
}

inline std::vector<SavedState> states_to_save(::amrex::Amr& amr, bool takes_old) {
  std::vector<SavedState> saved;
  const ::amrex::DescriptorList& states = ::amrex::AmrLevel::get_desc_lst();
  for (int type = 0; type < states.size(); ++type) {
    if (!states[type].store_in_checkpoint()) continue;
    saved.push_back({type, false});
    if (takes_old && has_old(amr, type)) saved.push_back({type, true});
  }
  return saved;
}

inline Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return failure("cannot read " + path);
  return text.str();
}

// Whether the code asks AMReX for old values in its checkpoints. It does so within its own checkPoint, and
// AMReX tells it in the Header alone, of a state whose values it writes: so the first checkpoint that could
// have old values has the smallest state in AMReX's way, too, until that has been seen.
class OldDataOfCode {
 public:
  // The state to be written in AMReX's way now.
  int state_to_see(::amrex::Amr& amr) const {
    int smallest = no_state;
    double least = 0;
    const ::amrex::DescriptorList& states = ::amrex::AmrLevel::get_desc_lst();
    for (int type = 0; type < states.size() && !is_known_; ++type) {
      if (!states[type].store_in_checkpoint() || !has_old(amr, type)) continue;
      double values = 0;
      for (int l = 0; l <= amr.finestLevel(); ++l) {
        values += amr.getLevel(l).get_new_data(type).boxArray().d_numPts() * states[type].nComp();
      }
      if (smallest == no_state || values < least) {
        smallest = type;
        least = values;
      }
    }
    return smallest;
  }

  // Collective. What the checkpoint in `directory` tells of that state; AMReX's files of it go.
  Status see(::amrex::Amr& amr, int type, const std::string& directory) {
    int takes_old = 0;
    const Status seen = agreed([&]() -> Status {
      if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
      NEVE_ASSIGN(const std::string text, read_text(directory + "/Header"));
      for (int l = 0; l <= amr.finestLevel(); ++l) {
        if (text.find(SavedState{type, true}.name_in_header(l)) != std::string::npos) takes_old = 1;
        remove_files_of(directory + "/Level_" + std::to_string(l), type);
      }
      std::filesystem::remove(directory + "/FabArrayHeaders.txt");
      return {};
    });
    NEVE_TRY(seen);
    ::amrex::ParallelDescriptor::Bcast(&takes_old, 1, ::amrex::ParallelDescriptor::IOProcessorNumber());
    takes_old_ = takes_old != 0;
    is_known_ = true;
    return {};
  }

  bool takes_old() const { return takes_old_; }

 private:
  static void remove_files_of(const std::string& folder, int type) {
    for (const bool is_old : {false, true}) {
      const std::string begin = SavedState{type, is_old}.name() + "_MF";
      std::vector<std::filesystem::path> found;
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().filename().string().compare(0, begin.size(), begin) == 0) {
          found.push_back(entry.path());
        }
      }
      for (const std::filesystem::path& path : found) std::filesystem::remove(path);
    }
  }

  bool is_known_ = false, takes_old_ = false;
};

// Whether `text` goes on at `at` with the four times of a state and a line with the number of its MultiFabs;
// `at` is then where that line begins.
inline bool leads_to_count(const std::string& text, size_t& at) {
  size_t next = at;
  for (int number = 0; number < 4; ++number) {
    const char* const begin = text.c_str() + next;
    char* end = nullptr;
    (void)std::strtod(begin, &end);
    if (end == begin || *end != '\n') return false;
    next += static_cast<size_t>(end - begin) + 1;
  }
  if (next + 1 >= text.size() || text[next] < '0' || text[next] > '2' || text[next + 1] != '\n') return false;
  at = next;
  return true;
}

// Where in the Header, from `at` on, a state of a level has the number of its MultiFabs; npos where nowhere.
inline size_t find_count(const std::string& text, size_t at, const ::amrex::StateData& state) {
  std::ostringstream begin;
  begin << state.getDomain() << '\n';
  state.boxArray().writeOn(begin);
  while ((at = text.find(begin.str(), at)) != std::string::npos) {
    size_t count = at + begin.str().size();
    if (leads_to_count(text, count)) return count;
    ++at;
  }
  return at;
}

// Puts the names of the MultiFabs into the Header, where AMReX would have put them: AMReX alone then refuses
// the checkpoint instead of going on with zeros. The Header has every state of every level, in order, those
// that are not stored, too, of which nothing else tells them apart.
inline Status name_states(::amrex::Amr& amr, const std::vector<SavedState>& saved, int named_by_amrex,
                          std::string& text) {
  size_t at = 0;
  for (int l = 0; l <= amr.finestLevel(); ++l) {
    for (int type = 0; type < ::amrex::AmrLevel::get_desc_lst().size(); ++type) {
      at = find_count(text, at, amr.getLevel(l).get_state_data(type));
      if (at == std::string::npos) {
        return failure("AMReX's Header has no place for state " + std::to_string(type) + " of level " +
                       std::to_string(l));
      }
      std::string names;
      int count = 0;
      for (const SavedState& state : saved) {
        if (state.type != type || (state.is_old && !has_old(amr.getLevel(l), type))) continue;
        names += state.name_in_header(l) + "\n";
        ++count;
      }
      if (count == 0 || type == named_by_amrex) continue;
      if (text[at] != '0') return failure("AMReX has written state " + std::to_string(type) + " itself");
      text.replace(at, 2, std::to_string(count) + "\n" + names);
    }
  }
  return {};
}

// Of the rank that does AMReX's output.
inline Status complete_header(::amrex::Amr& amr, const std::vector<SavedState>& saved, int named_by_amrex,
                              const std::string& path) {
  if (!::amrex::ParallelDescriptor::IOProcessor()) return {};
  NEVE_ASSIGN(std::string text, read_text(path));
  NEVE_TRY(name_states(amr, saved, named_by_amrex, text));
  std::error_code fault;
  std::filesystem::remove(path, fault);
  if (fault) return failure(path + ": " + fault.message());
  return write_text(path, text);
}

// Collective. The states' files, in `directory`, which holds AMReX's Header, where `named_by_amrex` is
// complete; `earlier` as of write_fields.
inline Result<WriteReport> write_states(::amrex::Amr& amr, const std::vector<SavedState>& saved,
                                        int named_by_amrex, const std::string& directory,
                                        const RunInputs& inputs, Status& earlier) {
  const int nlevels = amr.finestLevel() + 1;
  std::vector<CheckpointField> fields;
  std::vector<PreparedField> prepared;
  const Status ready = agreed([&]() -> Status {
    ::amrex::Vector<int> steps;
    for (int l = 0; l < nlevels; ++l) steps.push_back(amr.levelSteps(l));
    NEVE_ASSIGN(const Hierarchy levels,
                describe_levels(nlevels, amr.Geom(), amr.cumTime(), steps, amr.refRatio()));
    for (const SavedState& state : saved) {
      fields.push_back(field_of(amr, state, inputs.checkpoint_bound));
      NEVE_ASSIGN(PreparedField next, prepare(fields.back(), nlevels, levels, checkpoint_options(inputs)));
      prepared.push_back(std::move(next));
    }
    return complete_header(amr, saved, named_by_amrex, directory + "/Header");
  });
  NEVE_TRY(ready);
  NEVE_ASSIGN(const std::vector<WriteReport> reports,
              write_field_files(directory, nlevels, fields, prepared, earlier));
  return sum_of(reports);
}

}  // namespace neve::amrex::detail
