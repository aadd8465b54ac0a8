// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/frame_file_reader.hpp"

#include <algorithm>

#include "parallel/transfer/frame_run.hpp"
#include "parallel/transfer/make_of_path.hpp"
#include "parallel/transfer/piece_exchange.hpp"

namespace neve::mpi {

Result<FrameFileIndex> read_index(const std::string& path, uint64_t& file_bytes) {
  NEVE_ASSIGN(const auto file, plotfile::File::open(path));
  file_bytes = static_cast<uint64_t>(file->size_bytes());
  Bytes header(std::min(frame_file_header_bytes, file_bytes));
  NEVE_TRY(file->read(0, header));
  auto parsed = parse_header(header, file_bytes);
  if (!parsed.ok()) return parsed.status().in(path);
  Bytes index(parsed->index_bytes);
  NEVE_TRY(file->read(static_cast<int64_t>(parsed->index_at), index));
  auto pieces = parse_index(*parsed, index, file_bytes);
  if (!pieces.ok()) return pieces.status().in(path);
  return pieces;
}

Result<std::unique_ptr<FrameFileReader>> FrameFileReader::open(MPI_Comm comm, std::string_view given) {
  NEVE_ASSIGN(auto reader, make_of_path<FrameFileReader>(comm, given, [](Comm&& own, std::string&& name) {
                return new FrameFileReader(std::move(own), std::move(name));
              }));
  const std::string& path = reader->path_;
  FrameFileIndex& index = reader->index_;
  NEVE_TRY(agree(reader->comm_, guarded("open", [&]() -> Status {
                   if (reader->comm_.rank() != 0) return {};
                   uint64_t file_bytes = 0;
                   NEVE_ASSIGN(index, read_index(path, file_bytes));
                   return {};
                 })));
  NEVE_TRY(
      mpi_status(MPI_Bcast(&index.bytes, 1, MPI_UINT64_T, 0, reader->comm_.get()), "broadcast of the index"));
  NEVE_TRY(broadcast_pieces(reader->comm_, index.pieces, 0));
  NEVE_TRY(agree(reader->comm_, guarded("open", [&]() -> Status {
                   reader->finder_ = PieceFinder(index.pieces);
                   NEVE_ASSIGN(reader->file_, plotfile::File::open(path));
                   return {};
                 })));
  return reader;
}

Status FrameFileReader::read(std::span<const FileBox> boxes, std::byte* out, int threads,
                             Moved& moved) const {
  return guarded("read", [&]() -> Status {
    NEVE_TRY(check_asked(path_, boxes, index_.bytes));
    return read_in_order(boxes, out, [&](std::span<const FileBox> asked, std::byte* place) {
      std::vector<WantedPiece> wanted;
      for (const size_t i : finder_.find(index_.pieces, asked))
        wanted.push_back({&index_.pieces[i], nullptr});
      return read_pieces(*file_, std::move(wanted), asked, place, threads, moved);
    });
  });
}

Status FrameFileReader::read(uint64_t at, uint64_t bytes, std::byte* out, int threads, Moved& moved) const {
  if (bytes == 0) return {};
  const FileBox line = line_box(at, 1, bytes);
  return read({&line, 1}, out, threads, moved);
}

Status FrameFileReader::close() {
  file_.reset();
  return agree(comm_, {});
}

}  // namespace neve::mpi
