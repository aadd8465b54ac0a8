// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/ownership.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <string>

#include "parallel/write/key_text.hpp"

namespace neve::mpi {
namespace {

// One summed word per box: how many ranks claim it, above the sum of their numbers.
constexpr int claim_shift = 40;
constexpr uint64_t rank_mask = (uint64_t{1} << claim_shift) - 1;

std::string box_name(int level, size_t box) {
  return "level " + std::to_string(level) + " box " + std::to_string(box);
}

void append(std::string& key, const auto& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Status check_owned(const Hierarchy& hierarchy, const LocalValues& owned) {
  for (const LocalBox& local : owned.boxes()) {
    if (local.level < 0 || static_cast<size_t>(local.level) >= hierarchy.levels.size()) {
      return usage_error("owned box on level " + std::to_string(local.level) + "; allowed are 0.." +
                         std::to_string(hierarchy.levels.size() - 1));
    }
    const auto& boxes = hierarchy.levels[static_cast<size_t>(local.level)].boxes;
    if (local.box < 0 || static_cast<size_t>(local.box) >= boxes.size()) {
      return usage_error("owned box " + std::to_string(local.box) + " of level " +
                         std::to_string(local.level) + "; that level has " + std::to_string(boxes.size()) +
                         " boxes");
    }
    if (owned.are_in_memory() && local.data.data == nullptr) {
      return usage_error(box_name(local.level, static_cast<size_t>(local.box)) + " has no data");
    }
    if (owned.are_in_memory() && local.data.stride[0] != 1) {
      return usage_error(box_name(local.level, static_cast<size_t>(local.box)) + ": x stride is " +
                         std::to_string(local.data.stride[0]) + "; 1 is needed");
    }
  }
  return {};
}

size_t count_boxes(const Hierarchy& hierarchy) {
  size_t boxes = 0;
  for (const Level& level : hierarchy.levels) boxes += level.boxes.size();
  return boxes;
}

void put_claims(const Hierarchy& hierarchy, std::span<const LocalBox> owned, int rank,
                std::span<uint64_t> claims) {
  for (const LocalBox& local : owned) {
    auto number = static_cast<size_t>(local.box);
    for (size_t level = 0; level < static_cast<size_t>(local.level); ++level)
      number += hierarchy.levels[level].boxes.size();
    claims[number] += (uint64_t{1} << claim_shift) + static_cast<uint64_t>(rank);
  }
}

Result<Ownership> make_ownership(const Hierarchy& hierarchy) {
  constexpr size_t most = std::numeric_limits<int>::max();
  if (const size_t boxes = count_boxes(hierarchy); boxes > most) {
    return usage_error("hierarchy has " + std::to_string(boxes) + " boxes; at most " + std::to_string(most) +
                       " are allowed");
  }
  Ownership owners;
  for (const Level& level : hierarchy.levels) owners.emplace_back(level.boxes.size());
  return owners;
}

Status read_claims(std::span<const uint64_t> claims, Ownership& owners) {
  size_t next = 0;
  for (size_t level = 0; level < owners.size(); ++level) {
    for (size_t box = 0; box < owners[level].size(); ++box) {
      const uint64_t claim = claims[next++];
      if (claim >> claim_shift != 1) {
        return usage_error(box_name(static_cast<int>(level), box) + " is owned " +
                           std::to_string(claim >> claim_shift) + " times; each box needs exactly one owner");
      }
      owners[level][box] = static_cast<int>(claim & rank_mask);
    }
  }
  return {};
}

Result<Ownership> find_owners(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned) {
  std::vector<uint64_t> claims;
  Ownership owners;
  NEVE_TRY(agree(comm, guarded("boxes", [&] { return check_owned(hierarchy, owned); })));
  NEVE_TRY(guarded_alike(comm, "boxes", [&]() -> Status {
    NEVE_ASSIGN(owners, make_ownership(hierarchy));
    claims.assign(count_boxes(hierarchy), 0);
    put_claims(hierarchy, owned.boxes(), comm.rank(), claims);
    return {};
  }));
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, claims.data(), static_cast<int>(claims.size()),
                                    MPI_UINT64_T, MPI_SUM, comm.get()),
                      "exchange of box owners"));
  NEVE_TRY(read_claims(claims, owners));
  return owners;
}

std::string hierarchy_key(const Hierarchy& hierarchy) {
  std::string key = boxes_key(hierarchy);
  append(key, hierarchy.time);
  for (const std::string& name : hierarchy.components) append_text(key, name);
  return key;
}

std::string boxes_key(const Hierarchy& hierarchy) {
  std::string key;
  append(key, hierarchy.dims);
  append(key, hierarchy.dtype);
  for (const Level& level : hierarchy.levels) {
    append(key, level.domain);
    append(key, level.ref_ratio);
    append(key, level.boxes.size());
    for (const Box& box : level.boxes) append(key, box);
  }
  return key;
}

}  // namespace neve::mpi
