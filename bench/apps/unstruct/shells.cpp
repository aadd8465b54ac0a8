// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/unstruct/shells.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace neve::unstruct {
namespace {

// Barr's signed power: the exponent rounds a circle to a square.
double power(double base, double exponent) { return std::copysign(std::pow(std::abs(base), exponent), base); }

using Place = std::array<double, 3>;

Place on_surface(double latitude, double longitude, double e1, double e2) {
  const double across = power(std::cos(latitude), e1);
  return {across * power(std::cos(longitude), e2), across * power(std::sin(longitude), e2),
          power(std::sin(latitude), e1)};
}

// A rank's longitudes: from `first` to before `last`.
struct Range {
  int first, last;
};

void add_points(const ShellOptions& options, const ShellGrid& grid, double progress, int step, Range range,
                bool has_poles, Shells& shells) {
  const double t = options.change_roundness ? progress : 0;
  const double e1 = options.latitude_roundness + t * (options.latitude_end - options.latitude_roundness);
  const double e2 = options.longitude_roundness + t * (options.longitude_end - options.longitude_roundness);
  const apps::Noise noise(options.seed);
  const auto add = [&](double latitude, double longitude, int layer) {
    const double radius = options.inner + (1 - options.inner) * layer / (grid.layers - 1);
    const Place place = on_surface(latitude, longitude, e1, e2);
    std::array<float, 3> point;
    apps::Point4 at;
    for (size_t d = 0; d < 3; ++d) {
      point[d] = static_cast<float>(radius * place[d]);
      at[d] = radius * place[d] * options.noise_frequency;
    }
    at[3] = step * options.time_frequency;
    shells.points.push_back(point);
    shells.noise.push_back(noise.at(at));
  };
  const double pi = std::numbers::pi;
  for (int longitude = range.first; longitude < range.last; ++longitude) {
    for (int layer = 0; layer < grid.layers; ++layer) {
      for (int latitude = 0; latitude < grid.latitudes; ++latitude) {
        add(pi * ((latitude + 1.0) / (grid.latitudes + 1) - 0.5), 2 * pi * longitude / grid.longitudes - pi,
            layer);
      }
    }
  }
  for (int layer = 0; has_poles && layer < grid.layers; ++layer) {
    add(-pi / 2, 0, layer);
    add(pi / 2, 0, layer);
  }
}

// Of a point. Latitudes -1 and grid.latitudes are the poles.
int32_t number_of(const ShellGrid& grid, int longitude, int layer, int latitude) {
  const int64_t ring = int64_t{grid.layers} * grid.latitudes;
  if (latitude < 0) return static_cast<int32_t>(grid.longitudes * ring + 2 * layer);
  if (latitude == grid.latitudes) return static_cast<int32_t>(grid.longitudes * ring + 2 * layer + 1);
  return static_cast<int32_t>((longitude % grid.longitudes) * ring + int64_t{layer} * grid.latitudes +
                              latitude);
}

// Between a latitude and the next, a longitude and the next.
void add_cells(const ShellGrid& grid, int longitude, int latitude, Shells& shells) {
  // Corners of a surface triangle: longitude (0 or 1 from here) and latitude.
  using Corners = std::array<std::array<int, 2>, 3>;
  const Corners lower = {{{0, latitude}, {1, latitude}, {1, latitude + 1}}},
                upper = {{{0, latitude}, {1, latitude + 1}, {0, latitude + 1}}};
  for (const Corners& corners : {lower, upper}) {
    const auto of_layer = [&](int layer, size_t c) {
      return number_of(grid, longitude + corners[c][0], layer, corners[c][1]);
    };
    // At the poles one of the two has no area.
    if (of_layer(0, 0) == of_layer(0, 1) || of_layer(0, 1) == of_layer(0, 2)) continue;
    for (int layer = 0; layer + 1 < grid.layers; ++layer) {
      // The first triangle faces the second: VTK's filters then find a positive volume.
      shells.wedges.push_back({of_layer(layer, 0), of_layer(layer, 1), of_layer(layer, 2),
                               of_layer(layer + 1, 0), of_layer(layer + 1, 1), of_layer(layer + 1, 2)});
    }
    const int top = grid.layers - 1;
    shells.triangles.push_back({of_layer(top, 0), of_layer(top, 1), of_layer(top, 2)});
  }
}

}  // namespace

// Cells about as long as wide: twice as many longitudes as latitudes, an eighth as many layers.
ShellGrid shell_grid(uint64_t points) {
  const double latitudes = std::cbrt(static_cast<double>(points) * 8 / 2);
  ShellGrid grid;
  grid.latitudes = std::max(1, static_cast<int>(std::lround(latitudes)));
  grid.longitudes = std::max(3, 2 * grid.latitudes);
  grid.layers = std::max(2, static_cast<int>(std::lround(latitudes / 8)));
  return grid;
}

Shells make_shells(const ShellOptions& options, const ShellGrid& grid, double progress, int step, int rank,
                   int ranks) {
  const auto begin = [&](int r) { return static_cast<int>(int64_t{grid.longitudes} * r / ranks); };
  const Range range = {begin(rank), begin(rank + 1)};
  Shells shells;
  add_points(options, grid, progress, step, range, rank + 1 == ranks, shells);
  for (int longitude = range.first; longitude < range.last; ++longitude) {
    for (int latitude = -1; latitude < grid.latitudes; ++latitude) {
      add_cells(grid, longitude, latitude, shells);
    }
  }
  return shells;
}

}  // namespace neve::unstruct
