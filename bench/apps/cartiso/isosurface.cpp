// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/cartiso/isosurface.hpp"

#include <cmath>
#include <unordered_map>
#include <utility>

namespace neve::cartiso {
namespace {

// Corners of a cube as bits (x, y, z); a tetrahedron goes from 0 to 7 along the axes in one of six orders.
constexpr unsigned orders[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
using Place = std::array<float, 3>;

class March {
 public:
  March(const apps::GridBox& box, const std::vector<float>& values, float level,
        const std::array<double, 3>& spacing)
      : box_(box), values_(values), level_(level), spacing_(spacing) {
    for (size_t d = 0; d < 3; ++d) extent_[d] = static_cast<size_t>(box.size[d] + 2 * surface_halo + 1);
    for (unsigned corner = 0; corner < 8; ++corner) {
      offset_[corner] = (corner & 1) + extent_[0] * ((corner >> 1 & 1) + extent_[1] * (corner >> 2));
    }
  }

  Surface run() {
    for (int z = 0; z < box_.size[2]; ++z) {
      for (int y = 0; y < box_.size[1]; ++y) {
        size_t at = index(0, y, z);
        for (int x = 0; x < box_.size[0]; ++x, ++at) {
          unsigned above = 0;
          for (unsigned corner = 0; corner < 8; ++corner) {
            above |= static_cast<unsigned>(values_[at + offset_[corner]] > level_) << corner;
          }
          if (above != 0 && above != 0xff) cube(at, above);
        }
      }
    }
    return std::move(surface_);
  }

 private:
  size_t index(int x, int y, int z) const {
    return static_cast<size_t>(x + surface_halo) +
           extent_[0] *
               (static_cast<size_t>(y + surface_halo) + extent_[1] * static_cast<size_t>(z + surface_halo));
  }

  struct Edge {
    unsigned in, out;  // corners: above the level, and not
  };

  void cube(size_t at, unsigned above) {
    for (const auto& order : orders) {
      const unsigned corners[4] = {0, order[0], order[1], 7};
      unsigned in[4], out[4];
      int in_count = 0, out_count = 0;
      for (const unsigned corner : corners) {
        if ((above >> corner & 1) != 0) {
          in[in_count++] = corner;
        } else {
          out[out_count++] = corner;
        }
      }
      if (in_count == 1) triangle(at, {in[0], out[0]}, {in[0], out[1]}, {in[0], out[2]});
      if (in_count == 3) triangle(at, {in[0], out[0]}, {in[1], out[0]}, {in[2], out[0]});
      if (in_count == 2) {
        // The four crossings in a ring.
        triangle(at, {in[0], out[0]}, {in[0], out[1]}, {in[1], out[1]});
        triangle(at, {in[0], out[0]}, {in[1], out[1]}, {in[1], out[0]});
      }
    }
  }

  // Which way round it goes is told from the middles of its edges, in whole numbers.
  static bool faces_out(const Edge& a, const Edge& b, const Edge& c) {
    const auto coordinate = [](unsigned corner, unsigned d) { return static_cast<int>(corner >> d & 1); };
    int u[3], v[3], w[3];
    for (unsigned d = 0; d < 3; ++d) {
      const auto middle = [&](const Edge& e) { return coordinate(e.in, d) + coordinate(e.out, d); };
      u[d] = middle(b) - middle(a);
      v[d] = middle(c) - middle(a);
      w[d] = coordinate(a.out, d) - coordinate(a.in, d);
    }
    return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
               (u[0] * v[1] - u[1] * v[0]) * w[2] >
           0;
  }

  void triangle(size_t at, const Edge& first, Edge second, Edge third) {
    if (!faces_out(first, second, third)) std::swap(second, third);
    const int32_t a = point(at, first), b = point(at, second), c = point(at, third);
    // Where the field has the level at a grid point, triangles shrink to nothing.
    const auto same = [&](int32_t i, int32_t j) {
      return surface_.points[static_cast<size_t>(i)] == surface_.points[static_cast<size_t>(j)];
    };
    if (!same(a, b) && !same(b, c) && !same(c, a)) surface_.triangles.push_back({a, b, c});
  }

  // Central difference at a grid point.
  Place gradient(size_t at) const {
    const std::array<size_t, 3> step = {1, extent_[0], extent_[0] * extent_[1]};
    Place g;
    for (size_t d = 0; d < 3; ++d) {
      g[d] = static_cast<float>((static_cast<double>(values_[at + step[d]]) - values_[at - step[d]]) /
                                (2 * spacing_[d]));
    }
    return g;
  }

  Place place(size_t at) const {
    const size_t x = at % extent_[0], y = at / extent_[0] % extent_[1], z = at / extent_[0] / extent_[1];
    const size_t local[3] = {x, y, z};
    Place p;
    for (size_t d = 0; d < 3; ++d) {
      p[d] = static_cast<float>((static_cast<int>(local[d]) - surface_halo + box_.first[d]) * spacing_[d]);
    }
    return p;
  }

  // The crossing of an edge, made once; always from the lower end, so that neighbours on other ranks make the
  // same.
  int32_t point(size_t at, const Edge& edge) {
    const unsigned low = edge.in & edge.out, direction = edge.in ^ edge.out;
    const size_t from = at + offset_[low], to = at + offset_[low | direction];
    const auto [known, is_new] =
        made_.try_emplace(from * 8 + direction, static_cast<int32_t>(surface_.points.size()));
    if (!is_new) return known->second;
    const float share = (level_ - values_[from]) / (values_[to] - values_[from]);
    const Place p = place(from), q = place(to), g = gradient(from), h = gradient(to);
    Place where, normal;
    float square = 0;
    for (size_t d = 0; d < 3; ++d) {
      where[d] = p[d] + share * (q[d] - p[d]);
      normal[d] = -(g[d] + share * (h[d] - g[d]));
      square += normal[d] * normal[d];
    }
    const float length = std::sqrt(square);
    for (float& component : normal) component = length > 0 ? component / length : 0;
    surface_.points.push_back(where);
    surface_.normals.push_back(normal);
    return known->second;
  }

  const apps::GridBox box_;
  const std::vector<float>& values_;
  const float level_;
  const std::array<double, 3> spacing_;
  std::array<size_t, 3> extent_{};
  std::array<size_t, 8> offset_{};
  std::unordered_map<size_t, int32_t> made_;  // by lower end and direction
  Surface surface_;
};

}  // namespace

Surface isosurface(const apps::GridBox& box, const std::vector<float>& values, float level,
                   const std::array<double, 3>& spacing) {
  return March(box, values, level, spacing).run();
}

}  // namespace neve::cartiso
