// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/sample_grids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/math/portable_math.hpp"

namespace neve::amr {
namespace {

constexpr int max_replicas = 1024;

Status check_number(const char* what, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return usage_error(fmt::format("{} is {}; {} to {} are allowed", what, value, least, most));
}

std::vector<std::string> component_names(int components) {
  std::vector<std::string> names;
  for (int c = 0; c < components; ++c) names.push_back(fmt::format("component_{}", c));
  return names;
}

// [lo, hi) in boxes of a level, within one unit.
struct BoxRange {
  IntVect lo, hi;
};
constexpr std::array<BoxRange, 3> unit_levels = {{
    {{0, 0, 0}, {1, 1, 1}},
    {{0, 0, 1}, {4, 4, 3}},
    {{5, 4, 5}, {13, 16, 7}},
}};
constexpr int chombo_ratio = 4;

constexpr int ice_levels = 5;
constexpr int ice_ratio = 2;
constexpr int ice_base_tiles = 48;
constexpr int max_box_tiles = 4;  // a side

// Of one file's grid: what is marked around the grounding line, and how full boxes must be.
struct IceShape {
  double finest_angle;                       // up to which the finest level follows the line
  std::array<double, ice_levels - 1> width;  // of levels 1 to 4: tiles marked on either side of the line
  int finest_filled, filled;                 // percent of a box's tiles that are marked, at least
};
constexpr IceShape plot_shape = {3.61, {1.4, 2.2, 1.7, 1.3}, 82, 76};
constexpr IceShape checkpoint_shape = {3.37, {1.8, 1.7, 2.3, 0.8}, 90, 68};

// Tiles of one level, marked where the level exists.
class TileMap {
 public:
  explicit TileMap(int side)
      : side_(side), marked_(static_cast<size_t>(side) * static_cast<size_t>(side), 0) {}
  int side() const { return side_; }
  bool marked(int x, int y) const { return marked_[at(x, y)] != 0; }
  void mark(int x, int y) {
    if (x >= 0 && y >= 0 && x < side_ && y < side_) marked_[at(x, y)] = 1;
  }

 private:
  size_t at(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(side_) + static_cast<size_t>(x);
  }
  int side_;
  std::vector<char> marked_;
};

// Half-open ranges of tiles.
struct TileBox {
  int x0, y0, x1, y1;
  int tiles() const { return (x1 - x0) * (y1 - y0); }
};

int count_marked(const TileMap& map, const TileBox& box) {
  int count = 0;
  for (int y = box.y0; y < box.y1; ++y) {
    for (int x = box.x0; x < box.x1; ++x) count += map.marked(x, y) ? 1 : 0;
  }
  return count;
}

// The least box that holds the marked tiles of `box`; it has some.
TileBox shrunk(const TileMap& map, const TileBox& box) {
  TileBox result{box.x1, box.y1, box.x0, box.y0};
  for (int y = box.y0; y < box.y1; ++y) {
    for (int x = box.x0; x < box.x1; ++x) {
      if (!map.marked(x, y)) continue;
      result = {std::min(result.x0, x), std::min(result.y0, y), std::max(result.x1, x + 1),
                std::max(result.y1, y + 1)};
    }
  }
  return result;
}

// Berger and Rigoutsos' clustering with cuts in the middle of the longer side: boxes small enough of which
// `filled` percent are marked.
void cluster(const TileMap& map, const TileBox& whole, int filled, std::vector<TileBox>& boxes) {
  const int marked = count_marked(map, whole);
  if (marked == 0) return;
  const TileBox box = shrunk(map, whole);
  const int width = box.x1 - box.x0, height = box.y1 - box.y0;
  if (std::max(width, height) <= max_box_tiles && 100 * marked >= filled * box.tiles()) {
    boxes.push_back(box);
    return;
  }
  TileBox first = box, second = box;
  if (width >= height) {
    first.x1 = second.x0 = box.x0 + (width + 1) / 2;
  } else {
    first.y1 = second.y0 = box.y0 + (height + 1) / 2;
  }
  cluster(map, first, filled, boxes);
  cluster(map, second, filled, boxes);
}

// Distance from the middle of the domain, as a fraction of its side, at which the ice begins to float: bays
// and capes of a few lengths.
double grounding_line(double angle) {
  return 0.30 + 0.050 * math::sin(2 * angle + 0.4) + 0.030 * math::sin(5 * angle + 1.3) +
         0.027 * math::sin(11 * angle) + 0.005 * math::sin(29 * angle + 5.1) +
         0.003 * math::sin(61 * angle + 0.7);
}

// Marks the line's tiles and those whose middle is within `width` tiles of it, for angles up to `last_angle`.
void mark_line(TileMap& map, double last_angle, double width) {
  const double side = map.side();
  const int reach = static_cast<int>(math::floor(width)) + 1;
  // Steps shorter than a tile.
  const int steps = 8 * map.side();
  for (int i = 0; i < steps; ++i) {
    const double angle = last_angle * i / steps;
    const double radius = grounding_line(angle);
    const double x = (0.5 + radius * math::cos(angle)) * side, y = (0.5 + radius * math::sin(angle)) * side;
    const int tile_x = static_cast<int>(x), tile_y = static_cast<int>(y);
    for (int dy = -reach; dy <= reach; ++dy) {
      for (int dx = -reach; dx <= reach; ++dx) {
        const double from_x = tile_x + dx + 0.5 - x, from_y = tile_y + dy + 0.5 - y;
        const bool is_near = from_x * from_x + from_y * from_y <= width * width;
        if (is_near || (dx == 0 && dy == 0)) map.mark(tile_x + dx, tile_y + dy);
      }
    }
  }
}

// Halves the boxes of the most tiles that are not squares (then squares) until there are `count`: clustering
// stops near that number, not at it.
void split_to(std::vector<TileBox>& boxes, size_t count) {
  while (boxes.size() < count) {
    const auto largest = std::max_element(boxes.begin(), boxes.end(), [](const TileBox& a, const TileBox& b) {
      const auto key = [](const TileBox& box) {
        const bool is_square = box.x1 - box.x0 == box.y1 - box.y0;
        return std::pair(is_square ? 0 : 1, box.tiles());
      };
      return key(a) < key(b);
    });
    if (largest->tiles() < 2) return;
    TileBox second = *largest;
    if (largest->x1 - largest->x0 >= largest->y1 - largest->y0) {
      largest->x1 = second.x0 = (largest->x0 + largest->x1) / 2;
    } else {
      largest->y1 = second.y0 = (largest->y0 + largest->y1) / 2;
    }
    boxes.push_back(second);
  }
}

// Where the ice rests on the ground in the middle of the domain: the finest level's largest box.
TileBox ice_rise(int side) {
  const int middle = side / 2;
  return {middle, middle, middle + max_box_tiles, middle + max_box_tiles};
}

// Boxes of each level. The finest level first: a coarser one must hold it, with a tile to spare.
std::vector<std::vector<TileBox>> ice_boxes(const IceShape& shape) {
  std::vector<std::vector<TileBox>> boxes(ice_levels);
  for (size_t l = ice_levels - 1; l > 0; --l) {
    TileMap map(ice_base_tiles << l);
    const bool is_finest = l == ice_levels - 1;
    mark_line(map, is_finest ? shape.finest_angle : 2 * std::numbers::pi, shape.width[l - 1]);
    if (!is_finest) {
      for (const TileBox& finer : boxes[l + 1]) {
        for (int y = finer.y0 / ice_ratio - 1; y <= (finer.y1 - 1) / ice_ratio + 1; ++y) {
          for (int x = finer.x0 / ice_ratio - 1; x <= (finer.x1 - 1) / ice_ratio + 1; ++x) map.mark(x, y);
        }
      }
    }
    cluster(map, {0, 0, map.side(), map.side()}, is_finest ? shape.finest_filled : shape.filled, boxes[l]);
    if (is_finest) {
      boxes[l].push_back(ice_rise(map.side()));
      split_to(boxes[l], ice_finest_boxes);
    }
  }
  for (int y = 0; y < ice_base_tiles; y += max_box_tiles) {
    for (int x = 0; x < ice_base_tiles; x += max_box_tiles) {
      boxes[0].push_back({x, y, x + max_box_tiles, y + max_box_tiles});
    }
  }
  return boxes;
}

// Names as in BISICLES; which has how many layers of ghosts is not known. Alternately 5 and 4 first, so that
// the first few have both.
constexpr struct {
  const char* name;
  int components, ghosts;
} ice_checkpoint[] = {
    {"thickness", 1, 5},           {"bed_height", 1, 4},        {"ice_fraction", 1, 5},
    {"basal_friction", 1, 4},      {"viscosity_factor", 1, 5},  {"surface_heat_flux", 1, 4},
    {"basal_heat_flux", 1, 5},     {"till_water_depth", 1, 4},  {"calved_thickness", 1, 5},
    {"removed_thickness", 1, 4},   {"added_thickness", 1, 5},   {"surface_internal_energy", 1, 4},
    {"bed_internal_energy", 1, 5}, {"surface_height", 1, 5},    {"velocity", 2, 1},
    {"internal_energy", 14, 1},    {"layer_velocity_x", 14, 1}, {"layer_velocity_y", 14, 1},
    {"layer_thickness", 14, 1}};
constexpr int ice_plot_components = 15;

}  // namespace

int ice_metadata_writes(IceFile file) {
  return file == IceFile::checkpoint ? 69 + 51 + 40 : (23 + 13 + 9) / 3;
}

int ice_components(IceFile file) {
  if (file == IceFile::plot) return ice_plot_components;
  int components = 0;
  for (const auto& variable : ice_checkpoint) components += variable.components;
  return components;
}

Result<std::vector<SampleVariable>> checkpoint_variables(int components) {
  NEVE_TRY(check_number("number of components of a checkpoint", components, 1,
                        ice_components(IceFile::checkpoint)));
  std::vector<SampleVariable> variables;
  for (const auto& variable : ice_checkpoint) {
    if (components == 0) break;
    const int taken = std::min(components, variable.components);
    variables.push_back({variable.name, taken, variable.ghosts});
    components -= taken;
  }
  return variables;
}

Result<Hierarchy> chombo_grid(const ChomboGrid& grid) {
  NEVE_TRY(check_number("edge of a box in cells", grid.box_cells, 1, max_sample_box_cells));
  NEVE_TRY(check_number("number of components", grid.components, 1, max_sample_components));
  for (int32_t n : grid.replicas)
    NEVE_TRY(check_number("number of units along a direction", n, 1, max_replicas));

  Hierarchy h;
  h.dtype = grid.dtype;
  h.components = component_names(grid.components);
  double largest_extent = 0;
  for (int d = 0; d < max_dims; ++d) largest_extent = std::max<double>(largest_extent, grid.replicas[d]);
  int boxes_per_unit = 1;  // along a direction, in the level's index space
  for (const BoxRange& of_unit : unit_levels) {
    Level& level = h.levels.emplace_back();
    const bool is_finest = h.levels.size() == unit_levels.size();
    for (int d = 0; d < max_dims; ++d) {
      level.domain.hi[d] = grid.replicas[d] * boxes_per_unit * grid.box_cells - 1;
      level.ref_ratio[d] = is_finest ? 1 : chombo_ratio;
      level.dx[d] = 1.0 / (boxes_per_unit * grid.box_cells);
    }
    // Units and boxes in one loop per direction, so that the boxes come in Chombo's order: x first.
    const auto positions = [&](int d) {
      std::vector<int32_t> lo;
      for (int32_t unit = 0; unit < grid.replicas[d]; ++unit) {
        for (int32_t i = of_unit.lo[d]; i < of_unit.hi[d]; ++i) {
          lo.push_back((unit * boxes_per_unit + i) * grid.box_cells);
        }
      }
      return lo;
    };
    const int32_t last = grid.box_cells - 1;
    for (int32_t x : positions(0)) {
      for (int32_t y : positions(1)) {
        for (int32_t z : positions(2)) level.boxes.push_back({{x, y, z}, {x + last, y + last, z + last}});
      }
    }
    boxes_per_unit *= chombo_ratio;
  }
  for (int d = 0; d < max_dims; ++d) h.prob_hi[d] = grid.replicas[d];
  return h;
}

Result<Hierarchy> ice_grid(const IceGrid& grid) {
  NEVE_TRY(check_number("edge of a tile in cells", grid.tile_cells, 1, max_sample_box_cells));
  NEVE_TRY(check_number("number of components", grid.components, 1, max_sample_components));

  const auto boxes = ice_boxes(grid.file == IceFile::plot ? plot_shape : checkpoint_shape);
  Hierarchy h;
  h.dims = 2;
  h.dtype = grid.dtype;
  h.components = component_names(grid.components);
  for (int l = 0; l < ice_levels; ++l) {
    Level& level = h.levels.emplace_back();
    const int32_t side = (ice_base_tiles << l) * grid.tile_cells;
    level.domain.hi = {side - 1, side - 1, 0};
    level.dx = {1.0 / side, 1.0 / side, 1};
    if (l + 1 < ice_levels) level.ref_ratio = {ice_ratio, ice_ratio, 1};
    for (const TileBox& box : boxes[static_cast<size_t>(l)]) {
      level.boxes.push_back({{box.x0 * grid.tile_cells, box.y0 * grid.tile_cells, 0},
                             {box.x1 * grid.tile_cells - 1, box.y1 * grid.tile_cells - 1, 0}});
    }
    std::sort(level.boxes.begin(), level.boxes.end(), [](const Box& a, const Box& b) { return a.lo < b.lo; });
  }
  return h;
}

}  // namespace neve::amr
