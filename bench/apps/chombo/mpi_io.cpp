// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/mpi_io.hpp"

#include <mpi.h>
#include <sys/vfs.h>

#include <array>
#include <map>
#include <optional>

#include "parallel/comm/agree.hpp"

namespace neve::chombo {
namespace {

#if defined(OPEN_MPI)

constexpr long lustre_magic = 0x0bd00bd3;

// The MPI library's variables of whole numbers, by name.
class Variables {
 public:
  Variables() {
    int provided = 0;
    is_open_ = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
    int count = 0;
    if (!is_open_ || MPI_T_cvar_get_num(&count) != MPI_SUCCESS) return;
    for (int i = 0; i < count; ++i) add(i);
  }
  Variables(const Variables&) = delete;
  ~Variables() {
    if (is_open_) MPI_T_finalize();
  }

  std::optional<uint64_t> value(const std::string& name) const {
    const auto found = indices_.find(name);
    if (found == indices_.end()) return std::nullopt;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(found->second, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
    uint64_t value = 0;  // wide enough for what the library calls an int, a size or a truth
    const bool is_read = count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return is_read ? std::optional(value) : std::nullopt;
  }

  // Of a component of framework io, whose name begins so.
  std::optional<uint64_t> priority_of(const std::string& component) const {
    for (const auto& [name, index] : indices_) {
      const std::string begin = "io_" + component;
      if (name.starts_with(begin) && name.ends_with("_priority") && !name.ends_with("_delete_priority"))
        return value(name);
    }
    return std::nullopt;
  }

 private:
  void add(int index) {
    std::array<char, 256> name{}, description{};
    int name_length = name.size(), description_length = description.size();
    int verbosity = 0, binding = 0, scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum choices = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &type, &choices, description.data(),
                            &description_length, &binding, &scope) != MPI_SUCCESS)
      return;
    const std::string_view text = name.data();
    if (text.starts_with("io_") || text.starts_with("fbtl_posix_")) indices_[std::string(text)] = index;
  }

  bool is_open_ = false;
  std::map<std::string, int> indices_;
};

// Of the components that may be taken the one of the highest priority; on Lustre Open MPI prefers ROMIO.
MpiIo find_here(const std::string& folder) {
  const Variables variables;
  const std::optional<uint64_t> ompio = variables.priority_of("ompio"),
                                romio = variables.priority_of("romio");
  if (!ompio && !romio) return {};
  struct statfs system {};
  const bool is_lustre = ::statfs(folder.c_str(), &system) == 0 && system.f_type == lustre_magic;
  if (!ompio || (romio && (is_lustre || *romio > *ompio))) return {MpiIo::Kind::romio, 0};
  // It sieves collective writes alone (Open MPI 4.1).
  const bool sieves = variables.value("fbtl_posix_write_datasieving").value_or(0) != 0;
  return {MpiIo::Kind::ompio, sieves ? variables.value("fbtl_posix_max_gap_size").value_or(0) : 0};
}

#else

MpiIo find_here(const std::string&) {
#if defined(ROMIO_VERSION)
  return {MpiIo::Kind::romio, 0};
#else
  return {};
#endif
}

#endif

bool is_disabled(const mpi::Hints& hints, const std::string& name) {
  const auto found = hints.find(name);
  return found != hints.end() && found->second == "disable";
}

// Whether a call of a rank writes several stretches by one MPI-IO call.
bool joins_stretches(const Way& way) { return way.is_collective && way.aggregate_boxes != 1; }

}  // namespace

std::string_view MpiIo::name() const {
  constexpr std::array<std::string_view, 3> names = {"unknown", "ompio", "romio"};
  return names[static_cast<size_t>(kind)];
}

Result<MpiIo> find_mpi_io(const mpi::Comm& comm, const std::string& folder) {
  MpiIo io;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("asking for the MPI-IO", [&]() -> Status {
                        if (comm.rank() == 0) io = find_here(folder);
                        return {};
                      })));
  std::array<uint64_t, 2> words = {static_cast<uint64_t>(io.kind), io.sieved_gap_bytes};
  NEVE_TRY(
      mpi::mpi_status(MPI_Bcast(words.data(), 2, MPI_UINT64_T, 0, comm.get()), "broadcast of the MPI-IO"));
  return MpiIo{static_cast<MpiIo::Kind>(words[0]), words[1]};
}

bool reads_and_writes_back(const Way& way, const MpiIo& io, const WriteShape& shape) {
  // Frames adjoin; an exchange of our own writes what was sent; independent calls are of one stretch each.
  if (way.compresses || way.writer == Writer::cb2 || !way.is_collective) return false;
  // Calls of some boxes of each rank leave gaps between them.
  const bool leaves_gaps = way.aggregate_boxes > 0 && shape.ranks > 1;
  switch (io.kind) {
    case MpiIo::Kind::romio:
      // Aggregators fill gaps of their buffers; whoever writes several stretches for itself, those between.
      return (leaves_gaps && !is_disabled(shape.hints, "romio_cb_write")) ||
             (joins_stretches(way) && !is_disabled(shape.hints, "romio_ds_write"));
    case MpiIo::Kind::ompio:
      // n pieces lie apart by (begin of the last - begin of the first) / n as OMPIO counts it: half a piece
      // at least.
      return leaves_gaps && shape.smallest_box_bytes / 2 <= io.sieved_gap_bytes;
    case MpiIo::Kind::unknown:
      break;
  }
  return leaves_gaps;
}

}  // namespace neve::chombo
