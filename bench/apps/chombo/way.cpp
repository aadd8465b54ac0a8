// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace neve::chombo {
namespace {

// Each is a strategy of its own, which writes its files.
constexpr size_t most_aggregate_boxes = 64;

Way neve_way(std::string_view strategy, std::string_view meaning) {
  Way way;
  way.name = way.strategy = strategy;
  way.meaning = meaning;
  return way;
}

Way hdf5_way(std::string_view name, std::string_view meaning, bool is_collective, bool joins_boxes) {
  Way way;
  way.name = way.strategy = name;
  way.meaning = meaning;
  way.writer = Writer::hdf5;
  way.is_collective = is_collective;
  way.takes_aggregate_boxes = joins_boxes;
  way.aggregate_boxes = joins_boxes ? 0 : 1;
  return way;
}

Way cb2_way(std::string_view name, std::string_view meaning, bool joins_boxes) {
  Way way = hdf5_way(name, meaning, true, joins_boxes);
  way.writer = Writer::cb2;
  return way;
}

std::vector<Way> make_ways() {
  std::vector<Way> ways = {
      hdf5_way("hdf5-independent", "Chombo's own: an independent H5Dwrite of each box", false, false),
      hdf5_way("hdf5-collective", "a collective H5Dwrite of each box, empty where a rank has none left", true,
               false),
      hdf5_way("hdf5-aggregated", "ACB: a collective H5Dwrite of the union of a rank's boxes", true, true),
      hdf5_way("hdf5-aggregated-independent", "the same, independent", false, true),
      cb2_way("cb2-collective", "each box by a two-phase exchange as Cray's CB2 on Lustre", false),
      cb2_way("cb2-aggregated", "the same of a rank's boxes of a dataset", true),
      neve_way("independent", "an MPI-IO write of each box"),
      neve_way("collective", "a collective MPI-IO write of each box"),
      neve_way("aggregated", "a collective MPI-IO write of a rank's boxes of a dataset"),
      neve_way("skeleton", "one collective MPI-IO write of all that a rank has"),
      neve_way("compressed", "frames within --bound, each rank for itself"),
  };
  for (Way& way : ways) {
    if (way.writer != Writer::neve) continue;
    way.takes_aggregate_boxes = way.name == "aggregated";
    way.compresses = way.name == "compressed";
    way.is_collective = way.name != "independent";
    if (way.name == "independent" || way.name == "collective") way.aggregate_boxes = 1;
  }
  return ways;
}

std::string boxes_text(int boxes) {
  return boxes == 0 ? std::string("all boxes") : fmt::format("{} {}", boxes, boxes == 1 ? "box" : "boxes");
}

}  // namespace

const std::vector<Way>& all_ways() {
  static const std::vector<Way> ways = make_ways();
  return ways;
}

std::string way_names() {
  std::string names;
  for (const Way& way : all_ways()) names += (names.empty() ? "" : ", ") + way.name;
  return names;
}

Result<std::vector<Way>> parse_ways(const std::vector<std::string>& names,
                                    const std::vector<int>& aggregate_boxes) {
  if (aggregate_boxes.size() > most_aggregate_boxes) {
    return usage_error(fmt::format("aggregate-boxes has {} values; at most {} are allowed",
                                   aggregate_boxes.size(), most_aggregate_boxes));
  }
  for (const int boxes : aggregate_boxes) {
    if (boxes < 0) {
      return usage_error(fmt::format(
          "aggregate-boxes is {}; 0 (all boxes of a rank) or a number of boxes is allowed", boxes));
    }
  }
  std::vector<Way> ways;
  std::set<std::string> given;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all_ways(), name, &Way::name);
    if (found == all_ways().end())
      return usage_error(fmt::format("unknown strategy '{}'; allowed are {}", name, way_names()));
    if (!found->takes_aggregate_boxes || aggregate_boxes.empty()) ways.push_back(*found);
    for (const int boxes : aggregate_boxes) {
      if (!found->takes_aggregate_boxes) break;
      Way& way = ways.emplace_back(*found);
      way.aggregate_boxes = boxes;
      if (aggregate_boxes.size() > 1) way.name += ", " + boxes_text(boxes);
    }
  }
  for (const Way& way : ways) {
    if (!given.insert(way.name).second)
      return usage_error(fmt::format("strategy {} is given twice", way.name));
  }
  return ways;
}

}  // namespace neve::chombo
