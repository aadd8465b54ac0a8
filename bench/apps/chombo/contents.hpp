// SPDX-License-Identifier: BSD-3-Clause
// What the benchmark writes: a hierarchy, and this rank's boxes of it with their values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/apps/chombo/fields.hpp"
#include "io/hdf5/skeleton.hpp"
#include "neve/checkpoint_reader.hpp"
#include "neve/distribution.hpp"
#include "neve/hierarchy.hpp"
#include "neve/local_box.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/call_types.hpp"
#include "parallel/write/ownership.hpp"

namespace neve::chombo {

enum class Grid : uint8_t { chombo, bisicles };
enum class FileKind : uint8_t { plot, checkpoint };

// Components that share a dataset a level: all of a plotfile, or a variable of a checkpoint.
struct Group {
  Variable variable;  // not compressed
  int first_component = 0;
  std::vector<std::unique_ptr<double[]>> storage;
  std::vector<LocalBox> boxes;  // this rank's
};

// A dataset of values as they are.
struct ValueDataset {
  std::string path;      // in the file
  uint64_t address = 0;  // in a file whose datasets lie where Neve's writer places them
  uint64_t bytes = 0;
  std::vector<mpi::Piece> pieces;  // this rank's boxes, by rising address from the dataset's beginning on
};

struct ContentsCase {
  Grid grid = Grid::chombo;
  FileKind file = FileKind::plot;
  IntVect units{1, 1, 1};
  int box_cells = 64;  // edge of a box (chombo) or tile (bisicles)
  int components = 2;
  int ghosts = 1;
  DistributionMethod distribution = DistributionMethod::chombo;
};

class Contents {
 public:
  // Collective.
  static Result<Contents> make(const mpi::Comm& comm, const ContentsCase& of);

  FileKind file() const { return file_; }
  const Hierarchy& hierarchy() const { return hierarchy_; }
  const mpi::Ownership& owners() const { return owners_; }
  const Fields& fields() const { return *fields_; }
  const std::vector<Group>& groups() const { return groups_; }

  // By level, then group.
  std::vector<ValueDataset> datasets() const;
  // Of all ranks' boxes in all datasets.
  uint64_t smallest_box_bytes() const;
  // Where the last of them ends.
  uint64_t values_end() const;
  // What a file's structure says of them, of a plotfile and of a checkpoint; with the addresses of the
  // datasets or, for HDF5 to choose, without.
  std::vector<hdf5::LevelPlacement> plotfile_placements(bool with_addresses) const;
  std::vector<hdf5::VariablePlacement> checkpoint_placements(bool with_addresses) const;

 private:
  Status make_groups(int rank, const ContentsCase& of);
  Status make_variables(int components);
  void fill(Group& group, int rank);
  // [group][level], one after another.
  std::vector<std::vector<uint64_t>> addresses(uint64_t& end) const;

  FileKind file_ = FileKind::plot;
  Hierarchy hierarchy_;
  mpi::Ownership owners_;
  std::unique_ptr<Fields> fields_;
  std::vector<Group> groups_;
};

}  // namespace neve::chombo
