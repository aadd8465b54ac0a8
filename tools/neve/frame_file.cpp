// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/frame_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "parallel/transfer/frame_file_reader.hpp"
#include "parallel/transfer/frame_run.hpp"

namespace neve::cli {
namespace {

PiecesOfType& entry_of(std::vector<PiecesOfType>& types, const FramePiece& piece) {
  const std::string type = piece.kind == PieceKind::frame ? std::string(dtype_name(piece.dtype)) : "raw";
  const auto found = std::ranges::find(types, type, &PiecesOfType::type);
  if (found != types.end()) return *found;
  types.push_back({type, 0, 0, 0, {}, 0, 0});
  return types.back();
}

Status add_piece(const plotfile::File& file, const FramePiece& piece, PiecesOfType& type) {
  ++type.pieces;
  type.value_bytes += piece.place.bytes();
  type.stored_bytes += piece.head.size() + piece.bytes;
  if (piece.kind != PieceKind::frame) return {};
  Bytes bytes(piece.bytes), room;
  if (piece.bytes > 0) {
    NEVE_TRY(file.read(static_cast<int64_t>(piece.at), bytes));
  }
  NEVE_ASSIGN(const FrameDescription frame, describe_frame(with_head(piece, bytes, room)));
  if (frame.components.empty()) return corrupt("a frame without components");
  const ComponentInfo& component = frame.components.front();
  if (type.pieces == 1) type.bound = component.asked;
  type.max_abs_error = std::max(type.max_abs_error, component.max_abs_error);
  type.bound_abs = std::max(type.bound_abs, component.bound_abs);
  return {};
}

}  // namespace

Result<bool> is_frame_file_at(const std::string& path) {
  NEVE_ASSIGN(const auto file, plotfile::File::open(path));
  Bytes beginning(static_cast<size_t>(std::min<int64_t>(8, file->size_bytes())));
  NEVE_TRY(file->read(0, beginning));
  return is_frame_file(beginning);
}

Result<FrameFileContents> describe_frame_file_at(const std::string& path) {
  FrameFileContents contents;
  NEVE_ASSIGN(contents.index, mpi::read_index(path, contents.file_bytes));
  NEVE_ASSIGN(const auto file, plotfile::File::open(path));
  for (const FramePiece& piece : contents.index.pieces) {
    if (piece.kind == PieceKind::zeros) continue;
    NEVE_TRY(add_piece(*file, piece, entry_of(contents.types, piece))
                 .in(fmt::format("{}: piece at byte {}", path, piece.at)));
  }
  return contents;
}

Result<OpenFrameFile> OpenFrameFile::open(const std::string& path) {
  OpenFrameFile opened;
  uint64_t file_bytes = 0;
  NEVE_ASSIGN(opened.index_, mpi::read_index(path, file_bytes));
  NEVE_ASSIGN(opened.file_, plotfile::File::open(path));
  opened.finder_ = PieceFinder(opened.index_.pieces);
  return opened;
}

Status OpenFrameFile::read(uint64_t at, std::span<std::byte> out, int threads) const {
  if (out.empty()) return {};
  const FileBox line = line_box(at, 1, out.size());
  const std::span<const FileBox> asked(&line, 1);
  std::vector<mpi::WantedPiece> wanted;
  for (const size_t i : finder_.find(index_.pieces, asked)) wanted.push_back({&index_.pieces[i], nullptr});
  mpi::Moved moved;
  return mpi::read_pieces(*file_, std::move(wanted), asked, out.data(), threads, moved);
}

Result<plotfile::NpyArray> read_frame_file(const std::string& path, int threads) {
  NEVE_ASSIGN(const OpenFrameFile file, OpenFrameFile::open(path));
  const auto dtype = line_dtype(file.index());
  if (!dtype) {
    return usage_error(path +
                       " is no line of values of one type; `neve mpi cat` gives the bytes of such a file");
  }
  plotfile::NpyArray array;
  array.dtype = *dtype;
  array.shape = {file.index().bytes / dtype_bytes(*dtype)};
  array.values.resize(file.index().bytes);
  NEVE_TRY(file.read(0, array.values, threads));
  return array;
}

}  // namespace neve::cli
