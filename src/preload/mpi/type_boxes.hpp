// SPDX-License-Identifier: BSD-3-Clause
// MPI datatypes as rectangles of bytes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/format/file_box.hpp"

namespace neve::pmpi {

// What all elements of a type are.
enum class ElementKind { f32, f64, other };
// `other` where the type has no elements, or MPI does not tell.
ElementKind elements_of(MPI_Datatype type);

// One instance of a type that begins at byte 0: where its bytes lie, in the type's order. The values of its
// boxes are runs of bytes, as long as can be.
struct TypeBoxes {
  std::vector<FileBox> boxes;
  uint64_t bytes = 0;   // of all boxes
  uint64_t extent = 0;  // from one instance to the next
};

// Nothing where the type takes more than `most` boxes, has bytes before byte 0 or some that do not come one
// behind another, or is of a kind that MPI does not describe.
std::optional<TypeBoxes> boxes_of(MPI_Datatype type, size_t most);

// Bytes from a row of the array to the next, from a plane to the next and so on, where the type is of an
// array (subarray, darray): rising. Boxes do not tell them where rows are whole, and so one run.
std::vector<uint64_t> rows_of(MPI_Datatype type);

// The same values, in as many directions as the rows tell and a box may have.
void split_rows(std::span<const uint64_t> rows, FileBox& box);

// How many values a type's one box has along each direction of the array whose rows are given, the slowest
// first. Empty where it has more boxes than one, or runs that are no whole values.
std::vector<uint64_t> shape_of(std::vector<FileBox> boxes, std::span<const uint64_t> rows,
                               uint32_t value_bytes);

// Frees a type that MPI has handed out, unless it is a predefined one.
void free_derived(MPI_Datatype& type);

// Appends a box; where it goes on as the last ones do, these grow instead.
void append_box(FileBox box, std::vector<FileBox>& boxes);

// The same bytes as values of so many bytes each. False, and no boxes, where some run holds no whole number
// of values, or where a box would take more than `most` boxes.
bool cut_into_values(uint32_t value_bytes, size_t most, std::vector<FileBox>& boxes);

}  // namespace neve::pmpi
