// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/mpi_calls.hpp"

#include <algorithm>
#include <vector>

namespace neve::io_model {
namespace {

// Which call of its dataset takes a piece: the place of the piece among its rank's, over pieces a call.
std::vector<uint32_t> call_of_pieces(const Dataset& dataset, int ranks, uint32_t pieces_per_call) {
  std::vector<uint32_t> call(dataset.owner.size(), 0);
  if (pieces_per_call == 0) return call;
  std::vector<uint32_t> seen(static_cast<size_t>(ranks), 0);
  for (size_t i = 0; i < call.size(); ++i) {
    call[i] = seen[static_cast<size_t>(dataset.owner[i])]++ / pieces_per_call;
  }
  return call;
}

std::vector<CallPiece> pieces_of(const Dataset& dataset) {
  std::vector<CallPiece> pieces;
  pieces.reserve(dataset.piece_bytes.size());
  uint64_t begin = dataset.begin;
  for (size_t i = 0; i < dataset.piece_bytes.size(); ++i) {
    pieces.push_back({begin, dataset.piece_bytes[i], dataset.owner[i]});
    begin += dataset.piece_bytes[i];
  }
  return pieces;
}

// Sorted by call, in file order within each.
void visit_rounds(const Dataset& dataset, int ranks, uint32_t pieces_per_call,
                  const std::function<void(const Call&)>& visit) {
  const std::vector<CallPiece> pieces = pieces_of(dataset);
  const std::vector<uint32_t> call = call_of_pieces(dataset, ranks, pieces_per_call);
  uint32_t calls = 0;
  for (uint32_t c : call) calls = std::max(calls, c + 1);
  std::vector<size_t> begins(calls + size_t{1}, 0);
  for (uint32_t c : call) ++begins[c + size_t{1}];
  for (size_t c = 0; c < calls; ++c) begins[c + 1] += begins[c];
  std::vector<CallPiece> sorted(pieces.size());
  std::vector<size_t> next(begins.begin(), begins.end() - 1);
  for (size_t i = 0; i < pieces.size(); ++i) sorted[next[call[i]]++] = pieces[i];
  for (size_t c = 0; c < calls; ++c) {
    visit({true, std::span(sorted).subspan(begins[c], begins[c + 1] - begins[c])});
  }
}

}  // namespace

void for_each_call(const FilePieces& file, Strategy strategy, int aggregate_boxes,
                   const std::function<void(const Call&)>& visit) {
  std::vector<CallPiece> of_all;
  for (const Dataset& dataset : file.datasets) {
    if (strategy == Strategy::skeleton) {
      const std::vector<CallPiece> pieces = pieces_of(dataset);
      of_all.insert(of_all.end(), pieces.begin(), pieces.end());
    } else if (strategy == Strategy::independent) {
      const std::vector<CallPiece> pieces = pieces_of(dataset);
      visit({false, pieces});
    } else {
      visit_rounds(dataset, file.ranks,
                   strategy == Strategy::aggregated ? static_cast<uint32_t>(aggregate_boxes) : 1, visit);
    }
  }
  if (strategy == Strategy::skeleton) visit({true, of_all});
}

}  // namespace neve::io_model
