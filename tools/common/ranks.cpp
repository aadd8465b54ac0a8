// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "alone/needs_mpi.hpp"
#include "parallel/comm/broadcast.hpp"
#include "parallel/comm/same_everywhere.hpp"

namespace neve::cli {
namespace {

// The rank as the launcher says; null when there is no launcher.
const char* launcher_rank_text() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_RANKID", "SLURM_PROCID"}) {
    if (const char* text = std::getenv(name)) return text;
  }
  return nullptr;
}

// Variables that are set where they are not, and taken back: programs that this one starts must not see them.
class SetForNow {
 public:
  ~SetForNow() {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }
  void set(const char* name, const char* value) {
    if (std::getenv(name) != nullptr) return;
    setenv(name, value, 1);
    names_.emplace_back(name);
  }

 private:
  std::vector<std::string> names_;
};

constexpr const char* session_folder_variable = "OMPI_MCA_orte_tmpdir_base";

// A process that talks to nobody. Open MPI would wait a fifth of a second for networks, start a daemon, and
// make and remove a folder that all such processes share, where one may remove what another is about to use.
// Without the daemon it needs a folder of its own.
Status prepare_alone(SetForNow& variables, SessionFolder& own_folder) {
  if (!has_mpi || launcher_rank_text() != nullptr) return {};
  variables.set("OMPI_MCA_pml", "ob1");
  if (std::getenv(session_folder_variable) != nullptr) return {};  // the user has named another
  NEVE_TRY(own_folder.make());
  variables.set(session_folder_variable, own_folder.path().c_str());
  variables.set("OMPI_MCA_ess_singleton_isolated", "1");
  return {};
}

}  // namespace

Status check_launch() {
  if (has_mpi) return {};
  // Open MPI; MPICH and what is made from it; MVAPICH; Slurm's srun, Flux, jsrun and PALS, also without any
  // MPI.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
                           "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE", "PALS_NRANKS"}) {
    const char* const text = std::getenv(name);
    if (text == nullptr || std::atoi(text) <= 1) continue;
    return alone::needs_mpi("a run on " + std::string(text) + " processes (" + name + "=" + text + ")");
  }
  if (launcher_rank() <= 0) return {};
  return alone::needs_mpi("a run on several processes (a launcher says that this one is number " +
                          std::to_string(launcher_rank()) + ")");
}

bool is_rank_itself() {
  if (launcher_rank_text() == nullptr) return false;
  std::ifstream file("/proc/" + std::to_string(getppid()) + "/comm");
  std::string parent;
  std::getline(file, parent);
  constexpr std::array launchers = {"mpirun", "mpiexec",       "orterun",         "orted",     "prterun",
                                    "prted",  "mpiexec.hydra", "hydra_pmi_proxy", "slurmstepd"};
  return std::find(launchers.begin(), launchers.end(), parent) != launchers.end();
}

int launcher_rank() {
  const char* text = launcher_rank_text();
  return text != nullptr ? std::atoi(text) : 0;
}

MpiSession::MpiSession() {
  SetForNow alone;
  status_ = prepare_alone(alone, own_folder_);
  if (!status_.ok()) return;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
}

MpiSession::~MpiSession() {
  if (status_.ok()) MPI_Finalize();
}

Result<Ranks> Ranks::of_world() {
  NEVE_ASSIGN(mpi::Comm comm, mpi::Comm::duplicate(MPI_COMM_WORLD));
  return Ranks(std::move(comm));
}

// Collective: ok where all ranks have the text of rank 0.
Status Ranks::check_same(const std::string& what, const std::string& mine) const {
  std::string of_first = mine;
  NEVE_TRY(mpi::broadcast(comm_, of_first));
  return agree(mpi::guarded(what, [&]() -> Status {
    if (mine == of_first) return {};
    return usage_error("its " + what + " '" + mine + "', rank 0 has '" + of_first +
                       "'; all ranks must have the same");
  }));
}

Status Ranks::check_same_arguments(int argc, const char* const* argv) const {
  std::string arguments, folder;
  NEVE_TRY(agree(mpi::guarded("arguments", [&]() -> Status {
    for (int i = 1; i < argc; ++i) {
      if (i > 1) arguments += ' ';
      arguments += argv[i];
    }
    std::error_code error;  // a folder that is gone has no name
    folder = std::filesystem::current_path(error).string();
    return {};
  })));
  NEVE_TRY(check_same("arguments are", arguments));
  return check_same("working folder is", folder);
}

Status Ranks::check_same_file(const std::string& path) const {
  std::string found;
  NEVE_TRY(agree(mpi::guarded("input", [&]() -> Status {
    std::error_code error;
    const bool is_folder = std::filesystem::is_directory(path, error);
    const auto bytes = std::filesystem::file_size(is_folder ? path + "/Header" : path, error);
    found = error ? "no file" : std::to_string(bytes) + " bytes";
    if (is_folder) found += " in Header";
    return {};
  })));
  return check_same(path + " has", found);
}

bool Ranks::is_same_everywhere(const Status& status) const {
  return mpi::check_same_everywhere(
             comm_, [&] { return status.message(); }, "an error")
      .ok();
}

}  // namespace neve::cli
