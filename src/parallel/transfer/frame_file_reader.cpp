// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/frame_file_reader.hpp"

#include <algorithm>
#include <array>

#include "parallel/transfer/frame_run.hpp"
#include "parallel/transfer/make_of_path.hpp"

namespace neve::mpi {

Status broadcast_entries(const Comm& comm, std::span<FrameFileEntry> entries) {
  constexpr size_t most = size_t{1} << 20;  // of one call: an MPI count is an int
  for (size_t done = 0; done < entries.size(); done += most) {
    const size_t count = std::min(most, entries.size() - done);
    NEVE_TRY(mpi_status(MPI_Bcast(entries.data() + done, static_cast<int>(count * sizeof(FrameFileEntry)),
                                  MPI_BYTE, 0, comm.get()),
                        "broadcast of the index"));
  }
  return {};
}

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

Result<std::unique_ptr<FrameFileReader>> FrameFileReader::open(MPI_Comm comm, std::string_view given) {
  NEVE_ASSIGN(auto reader, make_of_path<FrameFileReader>(comm, given, [](Comm&& own, std::string&& name) {
                return new FrameFileReader(std::move(own), std::move(name));
              }));
  const std::string& path = reader->path_;
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
  NEVE_TRY(agree(reader->comm_, guarded("open", [&]() -> Status {
                   NEVE_ASSIGN(reader->file_, plotfile::File::open(path));
                   return {};
                 })));
  return reader;
}

Status FrameFileReader::read(uint64_t first, uint64_t count, std::byte* out, int threads,
                             Moved& moved) const {
  return read_frames(*file_, index_, {first, count}, out, threads, moved);
}

Status FrameFileReader::close() {
  file_.reset();
  return agree(comm_, {});
}

}  // namespace neve::mpi
