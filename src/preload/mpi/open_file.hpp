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
#include "preload/mpi/file_view.hpp"
#include "preload/mpi/journal.hpp"
#include "preload/mpi/reasons.hpp"
#include "preload/mpi/shared_pointer.hpp"

namespace neve::pmpi {

// undecided: without frames, and may get some, by agreement of all ranks in a collective call. Until then
// what is written goes into the file by MPI's own calls, or, once a rank has written values that frames are
// for, into that rank's journal. plain: all calls are MPI's own for good. framed: everything is in frames.
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
  // Of a file that some ranks opened while all of them had it open with frames: whose values these are.
  std::shared_ptr<OpenFile> leader;
  // Bytes that a split collective call has moved already, until its end.
  std::optional<uint64_t> split_bytes;

  // Of a file that is not plain: the view, and the file pointers, in bytes of it.
  FileView view;
  uint64_t position = 0;
  SharedPointer shared;
  uint64_t min_bytes = 0;  // the size is at least this: the program has asked for it

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

// Bytes that the program finds in a file that is not plain, as far as this rank knows.
uint64_t size_of(OpenFile& file);
// Not collective: the packed bytes of boxes, of which those that nobody wrote are 0. Of a framed file from
// its frames, or all that this rank can know.
Status read_frame_bytes(OpenFile& file, std::span<const FileBox> boxes, std::span<std::byte> out);
Status read_boxes(OpenFile& file, std::span<const FileBox> boxes, std::span<std::byte> out);

}  // namespace neve::pmpi
