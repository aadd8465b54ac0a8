// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/write_pieces.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "io/files/write.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/turns.hpp"
#include "parallel/file/hints.hpp"
#include "parallel/file/info.hpp"
#include "parallel/file/openable_path.hpp"
#include "parallel/file/space.hpp"
#include "parallel/file/written.hpp"

namespace neve::mpi {
namespace {

// The pieces of a rank in the order in which calls take them, and where each call begins.
struct Calls {
  std::vector<Piece> pieces;              // by dataset where calls do not join them, then address
  std::vector<std::vector<size_t>> ends;  // [dataset][call], in `pieces`; one dataset where calls join them
};

Calls plan_calls(std::span<const Piece> pieces, const WriteOrder& order, uint32_t datasets,
                 uint64_t call_bytes) {
  Calls calls;
  for (const Piece& piece : pieces) {
    cut_rows(piece.rows, call_bytes, [&](uint64_t begin, const Rows& rows) {
      if (rows.row_bytes > 0)
        calls.pieces.push_back({piece.address + begin, rows, piece.dataset, piece.continues});
    });
  }
  const auto group = [&](const Piece& piece) { return order.joins_datasets ? 0 : piece.dataset; };
  std::sort(calls.pieces.begin(), calls.pieces.end(), [&](const Piece& a, const Piece& b) {
    return group(a) != group(b) ? group(a) < group(b) : a.address < b.address;
  });
  calls.ends.resize(order.joins_datasets ? 1 : datasets);
  uint64_t pieces_taken = 0, bytes_taken = 0;
  for (size_t i = 0; i < calls.pieces.size(); ++i) {
    std::vector<size_t>& ends = calls.ends[group(calls.pieces[i])];
    const uint64_t bytes = calls.pieces[i].rows.bytes();
    const bool continues = calls.pieces[i].continues;
    const bool is_full = (order.pieces_a_call > 0 && pieces_taken == order.pieces_a_call && !continues) ||
                         bytes_taken + bytes > call_bytes;
    if (ends.empty() || is_full) {
      ends.push_back(i);
      pieces_taken = bytes_taken = 0;
    }
    if (!continues || pieces_taken == 0) ++pieces_taken;
    bytes_taken += bytes;
    ends.back() = i + 1;
  }
  return calls;
}

uint64_t bytes_of(std::span<const Piece> pieces) {
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.rows.bytes();
  return bytes;
}

uint64_t largest_piece(std::span<const Piece> pieces) {
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes = std::max(bytes, piece.rows.bytes());
  return bytes;
}

// What an aggregator collects of all ranks it holds in a buffer of cb_buffer_size, and as much again on its
// way through; half of `max_bytes` is left for lists of addresses and messages, so that all of it together
// stays below, unless the user wants another size. MPI libraries' own choice, 16 or 32 MiB, is taken for
// large pieces.
void bound_buffers(Hints& hints, uint64_t max_bytes) {
  constexpr uint64_t least = uint64_t{64} << 10;
  constexpr uint64_t usual = uint64_t{16} << 20;
  hints.try_emplace("cb_buffer_size", std::to_string(std::clamp(max_bytes / 4, least, usual)));
}

// Collective whatever happens on this rank: a rank that cannot build its types writes nothing, but is there.
// Throws, if at all, behind the last call.
Status write_together(MPI_File file, const std::string& path, std::span<const Piece> pieces, bool one_piece) {
  CallTypes types;
  const Status built = guarded("write", [&] { return pieces.empty() ? Status() : types.build(pieces); });
  const bool writes = !pieces.empty() && built.ok();
  // One piece lies in one place: it needs no view of the file, which costs every rank a collective call.
  Status view;
  if (!one_piece) {
    view = mpi_status(
        MPI_File_set_view(file, 0, MPI_BYTE, writes ? types.file() : MPI_BYTE, "native", MPI_INFO_NULL), path,
        "setting the file view");
  }
  const MPI_Offset at = writes && one_piece ? static_cast<MPI_Offset>(pieces.front().address) : 0;
  MPI_Status written;
  const Status write = mpi_status(MPI_File_write_at_all(file, at, MPI_BOTTOM, writes ? 1 : 0,
                                                        writes ? types.memory() : MPI_BYTE, &written),
                                  path, "collective write");
  NEVE_TRY(built);
  NEVE_TRY(view);
  NEVE_TRY(write);
  return writes ? check_written(written, bytes_of(pieces), path) : Status();
}

Status write_alone(MPI_File file, const std::string& path, std::span<const Piece> pieces) {
  CallTypes types;
  NEVE_TRY(types.build(pieces));
  MPI_Status written;
  NEVE_TRY(mpi_status(MPI_File_write_at(file, static_cast<MPI_Offset>(pieces.front().address), MPI_BOTTOM, 1,
                                        types.memory(), &written),
                      path, "write"));
  return check_written(written, bytes_of(pieces), path);
}

// The pieces of each of this rank's calls, in the order in which they are made.
std::vector<std::span<Piece>> pieces_of_calls(Calls& calls) {
  std::vector<std::span<Piece>> parts;
  const std::span<Piece> pieces = calls.pieces;
  size_t begin = 0;
  for (const std::vector<size_t>& ends : calls.ends) {
    for (const size_t end : ends) {
      parts.push_back(pieces.subspan(begin, end - begin));
      begin = end;
    }
  }
  return parts;
}

// `rounds`: calls of each dataset, the most of any rank. Ranks with fewer take part without data. Counts the
// calls of this rank.
Status write_calls(MPI_File file, const std::string& path, const WriteOrder& order, Calls& calls,
                   std::span<const uint64_t> rounds, const LoadBytes& load, uint64_t& mpi_writes) {
  const std::span<const Piece> pieces = calls.pieces;
  std::optional<LoadAhead> ahead;
  Status status = guarded("write", [&]() -> Status {
    if (load) ahead.emplace(load, pieces_of_calls(calls));
    return {};
  });
  if (!order.is_collective && !status.ok()) return status;
  size_t begin = 0;
  for (size_t dataset = 0; dataset < calls.ends.size(); ++dataset) {
    const std::vector<size_t>& ends = calls.ends[dataset];
    for (size_t call = 0; call < rounds[dataset]; ++call) {
      const size_t end = call < ends.size() ? ends[call] : begin;
      std::span<const Piece> part = pieces.subspan(begin, end - begin);
      if (ahead && call < ends.size() && status.ok()) status = ahead->next();
      begin = end;
      if (load && !status.ok()) part = {};                      // the other ranks wait in the call
      if (!order.is_collective && !status.ok()) return status;  // nobody waits
      // Guarded to the end: the other ranks go on to the next call.
      Status one = guarded("write", [&] {
        return order.is_collective ? write_together(file, path, part, order.pieces_a_call == 1)
                                   : write_alone(file, path, part);
      });
      ++mpi_writes;
      if (status.ok()) status = std::move(one);
      if (!order.is_collective && !status.ok()) return status;  // nobody waits
    }
  }
  return status;
}

}  // namespace

Status check_hints(const Hints& hints) {
  const auto check = [](const std::string& what, const std::string& text, size_t most) {
    if (!text.empty() && text.size() < most && text.find('\0') == std::string::npos) return Status();
    return usage_error(what + " has " + std::to_string(text.size()) + " characters; 1 to " +
                       std::to_string(most - 1) + " are allowed, none of them zero");
  };
  for (const auto& [key, value] : hints) {
    const std::string name = "MPI hint \"" + key.substr(0, MPI_MAX_INFO_KEY) + "\"";
    NEVE_TRY(check(name + ": its key", key, MPI_MAX_INFO_KEY));
    NEVE_TRY(check(name + ": its value", value, MPI_MAX_INFO_VAL));
  }
  return {};
}

Result<Hints> merged_hints(const Hints& given) {
  Hints hints = given;
  const char* variable = std::getenv("NEVE_MPI_HINTS");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == item.size()) {
      return usage_error("NEVE_MPI_HINTS holds \"" + std::string(item) +
                         "\"; allowed is key=value;key=value");
    }
    hints[std::string(item.substr(0, equals))] = std::string(item.substr(equals + 1));
  }
  return hints;
}

void leave_gaps(Hints& hints, const WriteOrder& order) {
  if (order.is_collective && order.pieces_a_call > 0) hints.try_emplace("romio_cb_write", "disable");
}

Status create_file(const std::string& path, const Hints& hints) {
  NEVE_ASSIGN(const Info info, Info::from(hints));
  // What is not there yet has no other name for MPI: hints of creation do not reach it then.
  if (std::filesystem::path(path).filename().string().find(':') != std::string::npos) {
    return files::create_file(path).status();
  }
  NEVE_ASSIGN(const OpenablePath name, OpenablePath::of(path));
  MPI_File file = MPI_FILE_NULL;
  NEVE_TRY(mpi_status(MPI_File_open(MPI_COMM_SELF, name.c_str(),
                                    MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, info.get(), &file),
                      path, "creating the file"));
  return mpi_status(MPI_File_close(&file), path, "closing the new file");
}

namespace {

// The calls of this rank, of how many rounds of all ranks, and the hints they are made with.
struct CallPlan {
  Calls calls;
  std::vector<uint64_t> rounds;
  std::optional<Info> info;
};

// Collective. `order` becomes that of single writes where the file's place needs them.
Status plan_all_calls(const Comm& comm, const std::string& path, const Hints& hints, WriteOrder& order,
                      uint32_t datasets, std::span<const Piece> pieces, uint64_t call_bytes, CallPlan& plan) {
  std::vector<uint64_t>& rounds = plan.rounds;  // and behind them the bytes of the largest piece
  const Status prepared = guarded("write", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::write, comm.rank()));
    plan.calls = plan_calls(pieces, order, datasets, call_bytes);
    for (const std::vector<size_t>& ends : plan.calls.ends) rounds.push_back(ends.size());
    rounds.resize(std::max<size_t>(rounds.size(), datasets));  // single writes are planned by dataset
    rounds.push_back(largest_piece(plan.calls.pieces));
    rounds.push_back(comm.rank() == 0 && order.is_collective && needs_single_writes(path) ? 1 : 0);
    return {};
  });
  NEVE_TRY(agree(comm, prepared));
  if (order.is_collective) {
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, rounds.data(), static_cast<int>(rounds.size()),
                                      MPI_UINT64_T, MPI_MAX, comm.get()),
                        "exchange of call counts"));
  }
  const bool is_single = rounds.back() != 0;
  rounds.pop_back();
  return agree(comm, guarded("write", [&]() -> Status {
                 if (is_single) {
                   order = write_order(Strategy::independent, 0);
                   plan.calls = plan_calls(pieces, order, datasets, call_bytes);
                   std::transform(plan.calls.ends.begin(), plan.calls.ends.end(), rounds.begin(),
                                  [](const std::vector<size_t>& ends) { return ends.size(); });
                 }
                 Hints asked = hints;
                 leave_gaps(asked, order);
                 if (order.bounds_memory) bound_buffers(asked, order.pieces_a_call * rounds.back());
                 NEVE_ASSIGN(Info made, Info::from(asked));
                 plan.info.emplace(std::move(made));
                 return {};
               }));
}

}  // namespace

Result<PiecesReport> write_pieces(const Comm& comm, const std::string& path, const Hints& hints,
                                  WriteOrder order, uint32_t datasets, std::span<const Piece> pieces,
                                  uint64_t call_bytes, const LoadBytes& load) {
  const double begin_seconds = MPI_Wtime();
  CallPlan plan;
  NEVE_TRY(plan_all_calls(comm, path, hints, order, datasets, pieces, call_bytes, plan));
  Calls& calls = plan.calls;

  NEVE_ASSIGN(std::optional<FileTurn> turn, take_file_turn(comm.get()));
  OpenablePath name;
  MPI_File file = MPI_FILE_NULL;
  // Read and write, because MPI libraries fill small gaps between pieces by reading a larger block, changing
  // it and writing it back. Where only some ranks could open the file it stays open on those: closing is
  // collective, and would wait for the ranks that have nothing to close.
  NEVE_TRY(open_file(comm, path, MPI_MODE_RDWR, plan.info->get(), name, file));
  Result<Hints> taken = hints_of(comm, file);  // the same everywhere: all write, or all close alone

  std::array<uint64_t, 2> counts = {0, bytes_of(calls.pieces)};
  const Status written =
      taken.ok() ? write_calls(file, path, order, calls, plan.rounds, load, counts[0]) : Status();
  const double written_seconds = MPI_Wtime();
  const Status synced = mpi_status(MPI_File_sync(file), path, "syncing");
  const Status closed = mpi_status(MPI_File_close(&file), path, "closing");
  turn.reset();
  const Status whole = guarded("write", [&]() -> Status {
    NEVE_TRY(taken.status());
    NEVE_TRY(written);
    NEVE_TRY(injected_fault(Phase::sync, comm.rank()));
    NEVE_TRY(synced);
    return closed;
  });
  NEVE_TRY(agree(comm, whole));
  const double synced_seconds = MPI_Wtime();
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()),
                                    MPI_UINT64_T, MPI_SUM, comm.get()),
                      "sum of the ranks' writes"));
  return PiecesReport{written_seconds - begin_seconds, synced_seconds - written_seconds, counts[0], counts[1],
                      std::move(*taken)};
}

}  // namespace neve::mpi
