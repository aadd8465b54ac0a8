// SPDX-License-Identifier: BSD-3-Clause
// A file that the program has open.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "io/files/temporary_file.hpp"
#include "parallel/file/openable_path.hpp"
#include "parallel/transfer/frame_file_reader.hpp"
#include "parallel/transfer/frame_file_writer.hpp"
#include "preload/mpi/journal.hpp"
#include "preload/mpi/reasons.hpp"
#include "preload/mpi/shared_pointer.hpp"

namespace neve::pmpi {

// undecided: without frames, and may get some: only a collective write begins them, by agreement of all
// ranks. Until then all calls are MPI's own. plain: they are for good. framed: the values are in frames.
enum class State { undecided, plain, framed };

struct OpenFile {
  OpenFile(MPI_File program_handle, std::string file_path)
      : handle(program_handle), native(program_handle), path(std::move(file_path)), journal(path) {}

  MPI_File handle;  // the program's
  MPI_File native;  // where MPI's own calls go: the program's, until frames have become a plain file
  mpi::OpenablePath opened_name;  // of `handle`, where its own is too long
  mpi::OpenablePath native_name;  // of `native` since then
  std::string path;
  int mode = 0;
  std::recursive_mutex mutex;
  std::optional<mpi::Comm> comm;  // of a file that is, or may become, one of frames
  State state = State::plain;
  Reason objection = Reason::none;  // this rank's, to frames
  bool has_said = false;            // that the file is plain, and why
  bool is_closed = false;

  // Of a framed file one or both: what held frames when it was opened, and what is being written.
  std::unique_ptr<mpi::FrameFileWriter> writer;
  std::unique_ptr<mpi::FrameFileReader> reader;
  Journal journal;
  // The path has earlier frames and the program has set the size to 0: `native` is an empty file of a name of
  // its own (rank 0 has that), which takes the path's when the program syncs or closes.
  bool is_emptied = false;
  std::optional<files::TemporaryFile> empty;
  // Of a file that some ranks opened while all of them had it open with frames: whose values these are.
  std::shared_ptr<OpenFile> leader;
  // Bytes that a split collective call has moved already, until its end.
  std::optional<uint64_t> split_bytes;

  // The view, where it is whole: bytes before it, the type of its elements; and the file pointers, in bytes
  // from its beginning. Of a framed file alone: else MPI has them.
  uint64_t displacement = 0;
  MPI_Datatype element = MPI_BYTE;
  uint64_t element_bytes = 1, position = 0;
  SharedPointer shared;
  uint64_t min_bytes = 0;  // the program has set the file's size

  bool writes() const { return (mode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0; }
  bool reads() const { return (mode & MPI_MODE_WRONLY) == 0; }
  OpenFile& content() { return leader ? *leader : *this; }
};

// What a call of the program comes to. An error of Neve's own still has to reach the file's error handler;
// those of MPI have.
struct Outcome {
  int code = MPI_SUCCESS;
  bool is_own = false;
};
inline Outcome native(int code) { return {code, false}; }
// Says the error, on the ranks that are to, and makes it one of MPI.
Outcome own(const Status& status, bool is_to_say = true);

// All files that this process has open.
std::shared_ptr<OpenFile> find_open(MPI_File handle);
std::vector<std::shared_ptr<OpenFile>> find_open(const std::string& path);
void add_open(std::shared_ptr<OpenFile> file);
void remove_open(MPI_File handle);

// Once a file, on its rank 0.
void say_plain(OpenFile& file, Reason reason);

// Bytes that the program finds in a framed file, as far as this rank knows.
uint64_t size_of(OpenFile& file);
std::optional<DType> dtype_of(const OpenFile& file);
// Not collective. Bytes `at` and on of a framed file, of which nobody wrote are 0: of its frames, and with
// what this rank has written since.
Status read_frame_bytes(OpenFile& file, uint64_t at, std::span<std::byte> out);
Status read_bytes(OpenFile& file, uint64_t at, std::span<std::byte> out);

}  // namespace neve::pmpi
