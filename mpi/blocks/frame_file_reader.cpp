// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/blocks/frame_file_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "codecs/frame_values.hpp"
#include "plotfile/file.hpp"

namespace neve::mpi {
namespace {

// The frames of a run, one after another, the next one under way.
class FramesAhead {
 public:
  FramesAhead(MPI_File file, const std::string& path, const FrameFileIndex& index,
              const std::vector<size_t>& wanted)
      : file_(file), path_(path), index_(index), wanted_(wanted) {
    requests_.fill(MPI_REQUEST_NULL);
  }
  ~FramesAhead() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }
  FramesAhead(const FramesAhead&) = delete;
  FramesAhead& operator=(const FramesAhead&) = delete;

  // Valid until the next call.
  Result<ByteSpan> take(size_t i) {
    if (i == 0) NEVE_TRY(begin(0));
    if (i + 1 < wanted_.size()) NEVE_TRY(begin(i + 1));
    MPI_Status status;
    NEVE_TRY(mpi_status(MPI_Wait(&requests_[i % 2], &status), path_ + ": reading a frame"));
    int bytes = 0;
    NEVE_TRY(mpi_status(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count"));
    const Bytes& frame = frames_[i % 2];
    if (static_cast<size_t>(bytes) == frame.size()) return ByteSpan(frame);
    return corrupt(path_ + ": the file ends inside a frame");
  }

 private:
  Status begin(size_t i) {
    const FrameFileEntry& entry = index_.entries[wanted_[i]];
    if (entry.bytes > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      return corrupt(path_ + ": a frame of " + std::to_string(entry.bytes) +
                     " bytes; at most 2^31 - 1 are allowed");
    }
    Bytes& frame = frames_[i % 2];
    frame.resize(entry.bytes);
    return mpi_status(MPI_File_iread_at(file_, static_cast<MPI_Offset>(entry.at), frame.data(),
                                        static_cast<int>(frame.size()), MPI_BYTE, &requests_[i % 2]),
                      path_ + ": reading a frame");
  }

  MPI_File file_;
  const std::string& path_;
  const FrameFileIndex& index_;
  const std::vector<size_t>& wanted_;
  std::array<Bytes, 2> frames_;
  std::array<MPI_Request, 2> requests_;
};

Status broadcast_entries(const Comm& comm, std::vector<FrameFileEntry>& entries) {
  constexpr size_t most = size_t{1} << 20;  // of one call: an MPI count is an int
  for (size_t done = 0; done < entries.size(); done += most) {
    const size_t count = std::min(most, entries.size() - done);
    NEVE_TRY(mpi_status(MPI_Bcast(entries.data() + done, static_cast<int>(count * sizeof(FrameFileEntry)),
                                  MPI_BYTE, 0, comm.get()),
                        "broadcast of the index"));
  }
  return {};
}

}  // namespace

Result<FrameFileIndex> read_index(const std::string& path, uint64_t& file_bytes) {
  NEVE_ASSIGN(const auto file, plotfile::File::open(path));
  file_bytes = static_cast<uint64_t>(file->size_bytes());
  Bytes header(std::min(frame_file_header_bytes, file_bytes));
  NEVE_TRY(file->read(0, header));
  auto parsed = parse_header(header, file_bytes);
  if (!parsed.ok()) return parsed.status().in(path);
  Bytes index(parsed->index_bytes());
  NEVE_TRY(file->read(static_cast<int64_t>(parsed->index_at), index));
  auto entries = parse_index(*parsed, index, file_bytes);
  if (!entries.ok()) return entries.status().in(path);
  return entries;
}

Result<std::unique_ptr<FrameFileReader>> FrameFileReader::open(MPI_Comm comm, const std::string& path) {
  NEVE_ASSIGN(Comm all, Comm::duplicate(comm));
  std::unique_ptr<FrameFileReader> reader(new FrameFileReader(std::move(all), path));
  FrameFileIndex& index = reader->index_;
  std::array<uint64_t, 3> numbers = {};
  NEVE_TRY(agree(reader->comm_, guarded("open", [&]() -> Status {
                   if (reader->comm_.rank() != 0) return {};
                   uint64_t file_bytes = 0;
                   NEVE_ASSIGN(index, read_index(path, file_bytes));
                   numbers = {static_cast<uint64_t>(index.dtype), index.values, index.entries.size()};
                   return {};
                 })));
  NEVE_TRY(mpi_status(MPI_Bcast(numbers.data(), 3, MPI_UINT64_T, 0, reader->comm_.get()),
                      "broadcast of the index"));
  NEVE_TRY(agree(reader->comm_, guarded("open", [&]() -> Status {
                   index.dtype = static_cast<DType>(numbers[0]);
                   index.values = numbers[1];
                   index.entries.resize(numbers[2]);
                   return {};
                 })));
  NEVE_TRY(broadcast_entries(reader->comm_, index.entries));
  NEVE_TRY(agree(reader->comm_, mpi_status(MPI_File_open(reader->comm_.get(), path.c_str(), MPI_MODE_RDONLY,
                                                         MPI_INFO_NULL, &reader->file_),
                                           path + ": opening")));
  return reader;
}

Status FrameFileReader::read(uint64_t first, uint64_t count, std::byte* out, int threads,
                             Moved& moved) const {
  const ValueRun run{first, count};
  NEVE_TRY(check_run(index_, run).in(path_));
  return guarded("read", [&]() -> Status {
    const std::vector<size_t> wanted = entries_of(index_, run);
    if (has_holes(index_, wanted, run)) std::memset(out, 0, count * dtype_bytes(index_.dtype));
    FramesAhead frames(file_, path_, index_, wanted);
    for (size_t i = 0; i < wanted.size(); ++i) {
      NEVE_ASSIGN(const ByteSpan frame, frames.take(i));
      NEVE_TRY(put_values(index_.entries[wanted[i]], frame, index_.dtype, run, out, threads)
                   .in(path_ + ": frame " + std::to_string(wanted[i])));
      moved.frame_bytes += frame.size();
      ++moved.blocks;
    }
    return {};
  });
}

Status FrameFileReader::close() {
  return agree(comm_, mpi_status(MPI_File_close(&file_), path_ + ": closing"));
}

}  // namespace neve::mpi
