// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/following.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include "preload/mpi/make_plain.hpp"
#include "preload/mpi/native_calls.hpp"

namespace neve::pmpi {

Found look_at(const std::string& path, MPI_Comm comm) {
  std::array<uint64_t, 2> numbers = {};
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(path, error);
    // What is no file, as a device, is none of ours.
    numbers[1] = is_file ? std::filesystem::file_size(path, error) : UINT64_MAX;
    std::array<char, 8> beginning = {};
    if (is_file) std::ifstream(path, std::ios::binary).read(beginning.data(), beginning.size());
    numbers[0] = is_frame_file(std::as_bytes(std::span(beginning))) ? 1 : 0;
  }
  MPI_Bcast(numbers.data(), 2, MPI_UINT64_T, 0, comm);
  return {numbers[0] != 0, numbers[1]};
}

Status follow(OpenFile& file) {
  if (!file.leader || (file.leader->state == State::framed && !file.leader->is_closed)) return {};
  file.leader.reset();
  NEVE_ASSIGN(mpi::Comm self, mpi::Comm::duplicate(MPI_COMM_SELF));
  file.comm.emplace(std::move(self));
  NEVE_TRY(file.shared.place(*file.comm, file.path));
  if (file.writes()) NEVE_TRY(make_plain_alone(file.path));
  return look_again(file);
}

Status look_again(OpenFile& file) {
  std::unique_ptr<mpi::FrameFileReader> reader;
  if (look_at(file.path, file.comm->get()).is_frames) {
    NEVE_ASSIGN(reader, mpi::FrameFileReader::open(file.comm->get(), file.path));
  } else {
    NEVE_TRY(mpi::agree(*file.comm, open_native(file, file.comm->get(), file.path)));
    file.state = State::plain;
    NEVE_TRY(hand_over_pointers(file));
  }
  if (file.reader != nullptr) NEVE_TRY(file.reader->close());
  file.reader = std::move(reader);
  return {};
}

}  // namespace neve::pmpi
