// SPDX-License-Identifier: BSD-3-Clause
// The files of neve/transfer.h over FrameFileWriter and FrameFileReader.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>

#include "bindings/c/last_error.hpp"
#include "bindings/c/transfer_call.hpp"
#include "core/format/frame_header.hpp"
#include "parallel/comm/usable.hpp"
#include "parallel/transfer/frame_file_reader.hpp"
#include "parallel/transfer/frame_file_writer.hpp"

struct neve_mpi_file {
  std::unique_ptr<neve::mpi::FrameFileWriter> writer;  // one of the two
  std::unique_ptr<neve::mpi::FrameFileReader> reader;
  // Of what is read: nothing where the file is no line of values of one type.
  std::optional<neve::DType> read_dtype;

  const neve::mpi::Comm& comm() const { return writer != nullptr ? writer->comm() : reader->comm(); }
};

namespace {

using neve::Status;
using neve::usage_error;
using neve::capi::reported;
using neve::mpi::CallKind;
using neve::mpi::CallOptions;
using neve::mpi::Comm;
using neve::mpi::FrameFileReader;
using neve::mpi::FrameFileWriter;
using neve::mpi::Moved;
using neve::mpi::Reached;

Status check_open(const void* file) { return file != nullptr ? Status() : usage_error("file is NULL"); }

Status check_callable(const neve_mpi_file* file) {
  NEVE_TRY(check_open(file));
  return neve::mpi::check_mpi_is_usable();
}

Status open_file(MPI_Comm comm, const char* path, int mode, neve_mpi_file** out) {
  NEVE_TRY(neve::mpi::check_communicator(comm));
  std::unique_ptr<neve_mpi_file> file;
  std::shared_ptr<neve::mpi::RateSites> sites;
  {
    NEVE_ASSIGN(const Comm all, Comm::duplicate(comm));
    NEVE_TRY(neve::mpi::agree(all, neve::mpi::guarded("open", [&]() -> Status {
                                if (path == nullptr || out == nullptr) {
                                  return usage_error(path == nullptr ? "path is NULL" : "file is NULL");
                                }
                                if (mode < NEVE_MPI_FILE_READ || mode > NEVE_MPI_FILE_UPDATE) {
                                  return usage_error(fmt::format(
                                      "mode is {}; allowed are those of neve_mpi_file_mode, 0 to 2", mode));
                                }
                                file = std::make_unique<neve_mpi_file>();
                                NEVE_ASSIGN(sites, neve::mpi::RateSites::shared_with(comm));
                                return {};
                              })));
    NEVE_TRY(neve::mpi::check_same(all, {{"mode", mode}}));
  }
  if (mode == NEVE_MPI_FILE_READ) {
    NEVE_ASSIGN(file->reader, FrameFileReader::open(comm, path));
    file->read_dtype = neve::line_dtype(file->reader->index());
  } else {
    const auto begin =
        mode == NEVE_MPI_FILE_CREATE ? FrameFileWriter::Begin::anew : FrameFileWriter::Begin::from_existing;
    NEVE_ASSIGN(file->writer,
                FrameFileWriter::open(comm, path, begin, FrameFileWriter::Types::one, std::move(sites)));
  }
  *out = file.release();
  return {};
}

struct Access {
  uint64_t offset;
  uint64_t count;
  MPI_Datatype type;
  const char* bound;
  const neve_mpi_options* options;
};

Status read_access(CallKind kind, const Access& given, const void* values, CallOptions& options) {
  NEVE_ASSIGN(options, neve::mpi::read_call(kind, given.type, given.bound, given.options));
  NEVE_TRY(neve::mpi::check_values("values", values, given.count));
  constexpr uint64_t most = neve::max_elements;
  if (given.offset > most || given.count > most - given.offset) {
    return usage_error(
        fmt::format("{} values from {} on; a file holds at most {}", given.count, given.offset, most));
  }
  return neve::mpi::plan_blocks(given.count, neve::dtype_bytes(options.transfer.dtype),
                                options.transfer.block_bytes, options.transfer.layer_shape)
      .status();
}

Status check_writes(const neve_mpi_file& file) {
  return file.writer != nullptr ? Status() : usage_error("the file was opened for reading");
}

// A file of several types, or of bytes, is read as whatever is asked for.
Status check_reads(const neve_mpi_file& file, const Access& given, neve::DType dtype) {
  if (file.reader == nullptr) return usage_error("the file was opened for writing");
  const auto held = file.read_dtype;
  if (held && *held != dtype) {
    return usage_error(fmt::format("the file holds {} values, and {} values are asked for",
                                   neve::dtype_name(*held), neve::dtype_name(dtype)));
  }
  const uint64_t values = file.reader->bytes() / neve::dtype_bytes(dtype);
  if (given.offset <= values && given.count <= values - given.offset) return {};
  return usage_error(fmt::format("{} values from {} on are asked for; the file holds {}", given.count,
                                 given.offset, values));
}

// The values of a call in the line of bytes.
neve::FileBox box_of(const Access& given, neve::DType dtype) {
  const auto value_bytes = static_cast<uint32_t>(neve::dtype_bytes(dtype));
  return neve::line_box(given.offset * value_bytes, value_bytes, given.count);
}

// `is_collective`: errors of arguments are agreed on first.
Status write_file(neve_mpi_file* file, const void* values, const Access& given, bool is_collective) {
  NEVE_TRY(check_callable(file));
  CallOptions options;
  const Status sound = neve::mpi::guarded("write", [&]() -> Status {
    NEVE_TRY(check_writes(*file));
    const CallKind kind = is_collective ? CallKind::collective_write : CallKind::write;
    return read_access(kind, given, values, options);
  });
  Moved moved;
  Reached reached;
  const neve::FileBox box = box_of(given, options.transfer.dtype);
  const neve::mpi::FileValues line{{&box, given.count > 0 ? size_t{1} : size_t{0}}, false, values};
  const Status written = [&]() -> Status {
    if (!is_collective) {
      NEVE_TRY(sound);
      return file->writer->write(options.transfer, line, moved);
    }
    NEVE_TRY(neve::mpi::agree(file->comm(), sound));
    NEVE_TRY(neve::mpi::check_same_transfer(file->comm(), options.transfer, {"kind of call", 1}));
    return file->writer->write_all(options.transfer, line, moved, reached);
  }();
  if (file->writer != nullptr) {
    is_collective ? file->writer->fail_everywhere(written) : file->writer->fail(written);
  }
  NEVE_TRY(written);
  neve::mpi::report_moved(options, given.count, moved);
  if (options.reached != nullptr) {
    *options.reached = {reached.value_bytes, reached.moved_bytes, reached.bound, reached.max_abs_error};
  }
  return {};
}

Status read_file(neve_mpi_file* file, void* values, const Access& given, bool is_collective) {
  NEVE_TRY(check_callable(file));
  CallOptions options;
  Moved moved;
  const Status read = neve::mpi::guarded("read", [&]() -> Status {
    NEVE_TRY(read_access(CallKind::other, given, values, options));
    NEVE_TRY(check_reads(*file, given, options.transfer.dtype));
    const neve::FileBox box = box_of(given, options.transfer.dtype);
    const std::span<const neve::FileBox> asked(&box, given.count > 0 ? 1 : 0);
    return file->reader->read(asked, static_cast<std::byte*>(values), options.transfer.values.encode.threads,
                              moved);
  });
  NEVE_TRY(is_collective ? neve::mpi::agree(file->comm(), read) : read);
  neve::mpi::report_moved(options, given.count, moved);
  return {};
}

Status describe(const neve_mpi_file* file, int* dtype, uint64_t* values) {
  NEVE_TRY(check_open(file));
  const bool is_read = file->reader != nullptr;
  const std::optional<neve::DType> held = is_read ? file->read_dtype : file->writer->dtype();
  const uint64_t bytes = is_read ? file->reader->bytes() : file->writer->bytes();
  if (dtype != nullptr) *dtype = held ? static_cast<int>(*held) : -1;
  if (values != nullptr) *values = held ? bytes / neve::dtype_bytes(*held) : bytes;
  return {};
}

}  // namespace

int neve_mpi_file_open(MPI_Comm comm, const char* path, int mode, neve_mpi_file** file) {
  return reported([&] { return open_file(comm, path, mode, file); });
}

int neve_mpi_file_describe(const neve_mpi_file* file, int* dtype, uint64_t* values) {
  return reported([&] { return describe(file, dtype, values); });
}

int neve_mpi_file_write_at_all(neve_mpi_file* file, uint64_t offset, const void* values, uint64_t count,
                               MPI_Datatype type, const char* bound, const neve_mpi_options* options) {
  return reported([&] { return write_file(file, values, {offset, count, type, bound, options}, true); });
}

int neve_mpi_file_write_at(neve_mpi_file* file, uint64_t offset, const void* values, uint64_t count,
                           MPI_Datatype type, const char* bound, const neve_mpi_options* options) {
  return reported([&] { return write_file(file, values, {offset, count, type, bound, options}, false); });
}

int neve_mpi_file_read_at_all(neve_mpi_file* file, uint64_t offset, void* values, uint64_t count,
                              MPI_Datatype type, const neve_mpi_options* options) {
  return reported([&] { return read_file(file, values, {offset, count, type, nullptr, options}, true); });
}

int neve_mpi_file_read_at(neve_mpi_file* file, uint64_t offset, void* values, uint64_t count,
                          MPI_Datatype type, const neve_mpi_options* options) {
  return reported([&] { return read_file(file, values, {offset, count, type, nullptr, options}, false); });
}

int neve_mpi_file_sync(neve_mpi_file* file) {
  return reported([&]() -> Status {
    NEVE_TRY(check_callable(file));
    NEVE_TRY(check_writes(*file));
    return file->writer->sync();
  });
}

int neve_mpi_file_close(neve_mpi_file** file) {
  return reported([&]() -> Status {
    NEVE_TRY(check_open(file));
    NEVE_TRY(check_open(*file));
    const std::unique_ptr<neve_mpi_file> closing(std::exchange(*file, nullptr));
    NEVE_TRY(neve::mpi::check_mpi_is_usable());
    return closing->writer != nullptr ? closing->writer->close() : closing->reader->close();
  });
}
