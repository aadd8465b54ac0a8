// SPDX-License-Identifier: BSD-3-Clause
#include "pmpi/files.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpi/blocks/frame_file_reader.hpp"
#include "mpi/blocks/frame_file_writer.hpp"
#include "mpi/blocks/mpi_type.hpp"
#include "pmpi/inside.hpp"
#include "pmpi/settings.hpp"
#include "trace/mpi_library.hpp"

namespace neve::pmpi {
namespace {

// undecided: nothing written yet. Each rank decides when it writes; collective calls agree.
enum class State { undecided, plain, framed };

struct OpenFile {
  MPI_File handle = MPI_FILE_NULL;
  std::string path;
  State state = State::undecided;
  bool is_agreed = false;  // all ranks are in this state, for good
  std::unique_ptr<mpi::FrameFileWriter> writer;
  std::unique_ptr<mpi::FrameFileReader> reader;  // of a file that held frames when it was opened
  // The view: bytes before it, bytes of an element; and the file pointer, in bytes from its beginning.
  uint64_t displacement = 0, element_bytes = 1, position = 0;
  uint64_t least_bytes = 0;  // the program has set the file's size

  MPI_Comm comm() const { return writer != nullptr ? writer->comm().get() : reader->comm().get(); }
  bool holds_frames() const { return state == State::framed || reader != nullptr; }
};

std::mutex mutex;
std::vector<std::unique_ptr<OpenFile>> open_files;
FileCounts counts;

OpenFile* find(MPI_File handle) {
  if (Inside::is()) return nullptr;
  const std::lock_guard lock(mutex);
  for (const auto& file : open_files) {
    if (file->handle == handle) return file.get();
  }
  return nullptr;
}

[[noreturn]] void end_program(const OpenFile& file, const std::string& why) {
  say(file.path + ": " + why + "; ending the program, because going on would give wrong values");
  MPI_Abort(file.comm(), 1);
  std::abort();
}

// What frames cannot do.
void refuse(OpenFile& file, const std::string& what) {
  if (file.holds_frames()) end_program(file, what + ", and the file holds frames");
  if (file.state == State::plain) return;
  say(file.path + ": " + what + "; the file is passed through as it is");
  file.state = State::plain;
}

int code_of(const OpenFile& file, const Status& status) {
  if (status.ok()) return MPI_SUCCESS;
  // Values that cannot be what the program means: of another type, or beyond what a file holds.
  if (status.code() == Code::usage) end_program(file, status.message());
  say(status.message());
  return MPI_ERR_IO;
}

size_t type_bytes(MPI_Datatype type) {
  int bytes = 0;
  return MPI_Type_size(type, &bytes) == MPI_SUCCESS && bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

uint64_t first_byte(const OpenFile& file, const Access& access) {
  return file.displacement +
         (access.is_explicit ? static_cast<uint64_t>(access.offset) * file.element_bytes : file.position);
}

// Why a write cannot be frames; empty when it can.
std::string unsuitable(const OpenFile& file, const Access& access) {
  const auto dtype = mpi::dtype_of(access.type);
  const std::string name = access.name;
  if (!dtype || is_integer(*dtype)) return name + " of a type other than MPI_FLOAT and MPI_DOUBLE";
  if (first_byte(file, access) % dtype_bytes(*dtype) != 0) return name + " at a byte inside of a value";
  return {};
}

// Collective. `bytes`: of this rank's write, 0 where it writes nothing; `dtype`: of its values. Afterwards
// all ranks are in the same state; undecided where nobody has written and nobody does.
void agree_on_state(OpenFile& file, uint64_t bytes, std::optional<DType>& dtype) {
  constexpr int64_t none = 255;
  std::array<int64_t, 5> numbers = {file.state == State::plain ? -1 : 0, file.state == State::framed ? -1 : 0,
                                    -static_cast<int64_t>(bytes), dtype ? static_cast<int64_t>(*dtype) : none,
                                    dtype ? -static_cast<int64_t>(*dtype) : none};
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MIN,
                file.comm());
  const bool is_mixed = numbers[3] != none && numbers[3] != -numbers[4];
  if (numbers[3] != none) dtype = static_cast<DType>(numbers[3]);
  bool some_plain = numbers[0] < 0;
  const bool some_framed = numbers[1] < 0;
  if (some_plain && some_framed) {
    end_program(file, "some ranks have written values that became frames, and others what cannot");
  }
  if (some_framed) {
    file.state = State::framed;
  } else if (some_plain) {
    file.state = State::plain;
  } else if (is_mixed) {
    refuse(file, "the ranks write different types");
  } else if (numbers[2] < 0) {
    const bool is_small =
        static_cast<uint64_t>(-numbers[2]) < settings().least_bytes && file.reader == nullptr;
    file.state = is_small ? State::plain : State::framed;
    if (is_small && file.writer->comm().rank() == 0) {
      say(file.path +
          ": the first write is of less than NEVE_MPI_LEAST_BYTES; the file is passed through as it is");
    }
  }
  file.is_agreed = file.state != State::undecided;
}

mpi::Transfer transfer_for(DType dtype, uint64_t count) {
  mpi::Transfer transfer = settings().transfer;
  transfer.dtype = dtype;
  uint64_t layer_values = 1;
  for (const uint64_t size : transfer.layer_shape) layer_values *= size;
  if (count % layer_values != 0) transfer.layer_shape.clear();
  return transfer;
}

void set_status(const Access& access, uint64_t elements) {
  if (access.status == MPI_STATUS_IGNORE) return;
  MPI_Status_set_elements_x(access.status, access.type, static_cast<MPI_Count>(elements));
  MPI_Status_set_cancelled(access.status, 0);
}

void move_pointer(OpenFile& file, const Access& access, uint64_t bytes) {
  if (!access.is_explicit) file.position += bytes;
}

int write_frames(OpenFile& file, const Access& access, DType dtype, const void* data) {
  const size_t value_bytes = dtype_bytes(dtype);
  const auto count = static_cast<uint64_t>(access.count);
  const uint64_t first = count == 0 ? 0 : first_byte(file, access) / value_bytes;
  const mpi::Transfer transfer = transfer_for(dtype, count);
  mpi::Moved moved;
  const Status status = access.is_collective ? file.writer->write_all(transfer, first, data, count, moved)
                                             : file.writer->write(transfer, first, data, count, moved);
  if (const int code = code_of(file, status); code != MPI_SUCCESS) return code;
  ++counts.writes;
  counts.value_bytes += count * value_bytes;
  counts.frame_bytes += moved.frame_bytes;
  move_pointer(file, access, count * value_bytes);
  set_status(access, count);
  return MPI_SUCCESS;
}

// What rank 0 finds under the path, for all.
struct Found {
  bool is_frames = false;
  uint64_t bytes = 0;
};
Found look_at(const std::string& path, MPI_Comm comm) {
  std::array<uint64_t, 2> numbers = {};
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) numbers[1] = std::filesystem::file_size(path, error);
    std::array<char, 8> beginning = {};
    std::ifstream(path, std::ios::binary).read(beginning.data(), beginning.size());
    numbers[0] = is_frame_file(std::as_bytes(std::span(beginning))) ? 1 : 0;
  }
  MPI_Bcast(numbers.data(), 2, MPI_UINT64_T, 0, comm);
  return {numbers[0] != 0, numbers[1]};
}

Status take_over(OpenFile& file, MPI_Comm comm, const Found& found, bool writes) {
  if (found.is_frames) {
    NEVE_ASSIGN(file.reader, mpi::FrameFileReader::open(comm, file.path));
    if (!writes) file.is_agreed = true;
  }
  if (!writes) return {};
  NEVE_ASSIGN(file.writer,
              mpi::FrameFileWriter::open(comm, file.path,
                                         found.is_frames ? mpi::FrameFileWriter::Begin::from_existing
                                                         : mpi::FrameFileWriter::Begin::anew));
  return {};
}

uint64_t size_of(const OpenFile& file) {
  const bool is_written = file.state == State::framed && file.writer != nullptr;
  uint64_t bytes = 0;
  if (is_written && file.writer->dtype()) {
    bytes = file.writer->values() * dtype_bytes(*file.writer->dtype());
  } else if (file.reader != nullptr) {
    bytes = file.reader->index().values * dtype_bytes(file.reader->index().dtype);
  }
  return std::max(bytes, file.least_bytes);
}

// The size that the program gave the file, in whole values.
void keep_least_size(OpenFile& file) {
  if (file.least_bytes == 0 || !file.writer->dtype()) return;
  const size_t value_bytes = dtype_bytes(*file.writer->dtype());
  file.writer->extend((file.least_bytes + value_bytes - 1) / value_bytes);
}

}  // namespace

int open_file(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* handle) {
  const int code = NEVE_PMPI(File_open)(comm, name, mode, info, handle);
  if (code != MPI_SUCCESS || Inside::is()) return code;
  const Inside inside;
  const std::string path = std::filesystem::absolute(trace::without_driver(name)).lexically_normal().string();
  const bool asks_for_writes = (mode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0;
  const Found there = look_at(path, comm);
  const bool writes = asks_for_writes && settings().files && settings().wants(path) &&
                      (mode & (MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_SEQUENTIAL)) == 0;
  if (!there.is_frames && (!writes || there.bytes > 0)) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (writes && rank == 0)
      say(path + ": holds data that are no frames; the file is passed through as it is");
    return code;
  }
  auto file = std::make_unique<OpenFile>();
  file->handle = *handle;
  file->path = path;
  const Status taken = take_over(*file, comm, there, writes);
  if (!taken.ok()) {
    say(taken.message());
    NEVE_PMPI(File_close)(handle);
    return MPI_ERR_IO;
  }
  if ((mode & MPI_MODE_APPEND) != 0) file->position = size_of(*file);
  const std::lock_guard lock(mutex);
  open_files.push_back(std::move(file));
  return code;
}

int close_file(MPI_File* handle) {
  OpenFile* const file = find(*handle);
  if (file == nullptr) return NEVE_PMPI(File_close)(handle);
  const Inside inside;
  std::optional<DType> none;
  if (!file->is_agreed) agree_on_state(*file, 0, none);
  Status status;
  if (file->writer != nullptr) {
    const bool is_written = file->state == State::framed;
    if (is_written) keep_least_size(*file);
    status = is_written ? file->writer->close() : file->writer->abandon();
  }
  if (file->reader != nullptr) {
    const Status closed = file->reader->close();
    if (status.ok()) status = closed;
  }
  const int kept = code_of(*file, status);
  {
    const std::lock_guard lock(mutex);
    std::erase_if(open_files, [&](const auto& other) { return other.get() == file; });
  }
  const int code = NEVE_PMPI(File_close)(handle);
  return kept != MPI_SUCCESS ? kept : code;
}

int write_file(const Access& access, const void* data, const Plain& plain) {
  OpenFile* const file = find(access.file);
  if (file == nullptr) return plain();
  const Inside inside;
  if (file->writer == nullptr) {
    // Frames, and no bound, or a mode that does not write, where MPI has its own error.
    int mode = 0;
    MPI_File_get_amode(access.file, &mode);
    if ((mode & MPI_MODE_RDONLY) != 0) return plain();
    end_program(*file,
                "a write of plain values into a file of frames (NEVE_MPI_BOUND would make them frames)");
  }
  if (file->state == State::plain && file->is_agreed) return plain();
  const bool has_values = access.count > 0;
  const std::string why = has_values ? unsuitable(*file, access) : std::string();
  std::optional<DType> dtype;
  if (!why.empty()) {
    refuse(*file, why);
  } else if (has_values) {
    dtype = mpi::dtype_of(access.type);
  }
  const uint64_t bytes = has_values && dtype ? static_cast<uint64_t>(access.count) * dtype_bytes(*dtype) : 0;
  if (access.is_collective) {
    if (!file->is_agreed) agree_on_state(*file, bytes, dtype);
    if (!dtype) dtype = file->writer->dtype();
  } else if (file->state == State::undecided && has_values) {
    if (bytes < settings().least_bytes && file->reader == nullptr) {
      refuse(*file, std::string(access.name) + " of less than NEVE_MPI_LEAST_BYTES as the first write");
    } else {
      file->state = State::framed;
    }
  }
  if (file->state != State::framed) return plain();
  if (!dtype && !access.is_collective) {
    set_status(access, 0);
    return MPI_SUCCESS;  // nothing to write
  }
  return write_frames(*file, access, dtype.value_or(DType::f32), data);
}

int read_file(const Access& access, void* data, const Plain& plain) {
  OpenFile* const file = find(access.file);
  if (file == nullptr) return plain();
  const Inside inside;
  if (file->state == State::framed && file->writer != nullptr) {
    end_program(*file, std::string(access.name) + " from a file whose values are being written as frames");
  }
  if (file->reader == nullptr) return plain();  // nothing is written yet
  const FrameFileIndex& index = file->reader->index();
  const size_t value_bytes = dtype_bytes(index.dtype);
  const uint64_t asked_bytes = static_cast<uint64_t>(access.count) * type_bytes(access.type);
  const uint64_t first = first_byte(*file, access);
  const auto dtype = mpi::dtype_of(access.type);
  const bool is_bytes = access.type == MPI_BYTE;
  if (access.count > 0 && !is_bytes && dtype != index.dtype) {
    end_program(*file, std::string(access.name) + " of another type than the file's " +
                           std::string(dtype_name(index.dtype)) + " values");
  }
  if (first % value_bytes != 0 || asked_bytes % value_bytes != 0) {
    end_program(*file, std::string(access.name) + " of parts of values");
  }
  // As much as there is, as of any file.
  const uint64_t run_first = std::min(first / value_bytes, index.values);
  const uint64_t run_count = std::min(asked_bytes / value_bytes, index.values - run_first);
  mpi::Moved moved;
  const Status read = file->reader->read(run_first, run_count, static_cast<std::byte*>(data),
                                         settings().transfer.values.encode.threads, moved);
  if (const int code = code_of(*file, read); code != MPI_SUCCESS) return code;
  ++counts.reads;
  move_pointer(*file, access, run_count * value_bytes);
  set_status(access, is_bytes ? run_count * value_bytes : run_count);
  return MPI_SUCCESS;
}

int other_access(const char* name, MPI_File handle, const Plain& plain) {
  OpenFile* const file = find(handle);
  if (file == nullptr) return plain();
  const Inside inside;
  refuse(*file, name);
  return plain();
}

int seek_file(MPI_File handle, MPI_Offset offset, int whence, const Plain& plain) {
  OpenFile* const file = find(handle);
  if (file == nullptr || file->state == State::plain) return plain();
  const Inside inside;
  const auto size = static_cast<int64_t>(size_of(*file));
  const auto before = static_cast<int64_t>(file->displacement);
  int64_t from = 0;
  if (whence == MPI_SEEK_CUR) from = static_cast<int64_t>(file->position);
  if (whence == MPI_SEEK_END) from = size - before;
  const int64_t position = from + offset * static_cast<int64_t>(file->element_bytes);
  // MPI has the file pointer as well, for as long as the file may become one of plain values. Its own end is
  // another.
  const int code = file->holds_frames() ? MPI_SUCCESS : plain();
  if (position < 0) return MPI_ERR_ARG;
  file->position = static_cast<uint64_t>(position);
  return code;
}

int file_position(MPI_File handle, MPI_Offset* offset, const Plain& plain) {
  const OpenFile* const file = find(handle);
  if (file == nullptr || file->state == State::plain) return plain();
  *offset = static_cast<MPI_Offset>(file->position / file->element_bytes);
  return MPI_SUCCESS;
}

int file_size(MPI_File handle, MPI_Offset* bytes, const Plain& plain) {
  const OpenFile* const file = find(handle);
  if (file == nullptr || !file->holds_frames()) return plain();
  *bytes = static_cast<MPI_Offset>(size_of(*file));
  return MPI_SUCCESS;
}

int set_file_size(const char* name, MPI_File handle, MPI_Offset bytes, bool may_shrink, const Plain& plain) {
  OpenFile* const file = find(handle);
  if (file == nullptr || file->state == State::plain) return plain();
  const Inside inside;
  if (file->writer == nullptr) end_program(*file, std::string(name) + " of a file of frames");
  const bool is_new = file->state == State::undecided;
  if (is_new && bytes == 0 && may_shrink && file->reader != nullptr) {
    // All that it held is gone: a new file.
    const Status replaced = [&]() -> Status {
      NEVE_TRY(file->writer->abandon());
      NEVE_ASSIGN(file->writer, mpi::FrameFileWriter::open(file->reader->comm().get(), file->path,
                                                           mpi::FrameFileWriter::Begin::anew));
      return file->reader->close();
    }();
    file->reader.reset();
    if (const int code = code_of(*file, replaced); code != MPI_SUCCESS) return code;
    return plain();
  }
  const uint64_t now = size_of(*file);
  if (static_cast<uint64_t>(bytes) < now && may_shrink)
    end_program(*file, std::string(name) + " cuts off values");
  file->least_bytes = std::max<uint64_t>(now, static_cast<uint64_t>(bytes));
  return is_new && file->reader == nullptr ? plain() : MPI_SUCCESS;
}

int set_file_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype element, MPI_Datatype filetype,
                  const char* representation, const Plain& plain) {
  OpenFile* const file = find(handle);
  if (file == nullptr || file->state == State::plain) return plain();
  const Inside inside;
  const auto dtype = mpi::dtype_of(element);
  const bool is_whole = element == filetype && (dtype || element == MPI_BYTE) &&
                        std::strcmp(representation, "native") == 0 && displacement >= 0;
  if (!is_whole) {
    refuse(*file, "a file view with holes, of a derived type, or not native");
    return plain();
  }
  const int code = plain();
  if (code != MPI_SUCCESS) return code;
  file->displacement = static_cast<uint64_t>(displacement);
  file->element_bytes = type_bytes(element);
  file->position = 0;
  return code;
}

int sync_file(MPI_File handle, const Plain& plain) {
  OpenFile* const file = find(handle);
  if (file == nullptr || file->writer == nullptr) return plain();
  const Inside inside;
  std::optional<DType> none;
  if (!file->is_agreed) agree_on_state(*file, 0, none);
  if (file->state != State::framed) return plain();
  keep_least_size(*file);
  return code_of(*file, file->writer->sync());
}

const FileCounts& file_counts() { return counts; }

}  // namespace neve::pmpi
