// SPDX-License-Identifier: BSD-3-Clause
// A small WRF-like model: layers of rotating shallow water over terrain on a beta plane, periodic in x, with
// walls in y, carrying vapour that condenses and rains out. Arakawa C grid, third-order Runge-Kutta steps as
// WRF takes them (Wicker and Skamarock 2002), values in f32. Needs neither MPI nor files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "neve/status.hpp"

namespace neve::ensemble {

struct Grid {
  int nx = 48, ny = 40, layers = 4;
  double spacing_m = 60e3;

  size_t columns() const { return static_cast<size_t>(nx) * static_cast<size_t>(ny); }
  size_t cells() const { return columns() * static_cast<size_t>(layers); }
  bool operator==(const Grid&) const = default;
};

// All that a run goes on from. [layer][y][x], layer 0 on top; u on the western and v on the southern face of
// a cell, the rest at its middle.
struct State {
  std::vector<float> u, v;           // m/s
  std::vector<float> thickness;      // of the layer, m
  std::vector<float> vapour, cloud;  // kg/kg
  std::vector<float> rain;           // [y][x], mm since the beginning

  explicit State(const Grid& grid);
};

// Rows [first, first + count) of a grid.
struct Rows {
  int first = 0, count = 0;
};
// A model of fewer rows cannot give its neighbours what they need.
inline constexpr int min_model_rows = 2;

// Where a model of some rows gets what it needs of those beside them.
class Neighbours {
 public:
  virtual ~Neighbours() = default;
  // Collective over all that share a grid's rows, in which every band calls it equally often. Gives the rows
  // at both ends of the band and returns, in the same order and size, those that lie beyond; at a wall
  // nothing is taken and `from_` stays as it is.
  virtual Status exchange(const std::vector<float>& southern, const std::vector<float>& northern,
                          std::vector<float>& from_south, std::vector<float>& from_north) = 0;
};

// What is written beside the state, computed from it.
struct Diagnostics {
  std::vector<float> w;               // of the layers' tops, m/s
  std::vector<float> height;          // of the layers' tops above where they rest, m
  std::vector<float> pressure;        // Montgomery potential against rest, m2/s2
  std::vector<float> cloud_cover;     // share of the cell
  std::vector<float> condensed;       // vapour that became cloud during the last call of advance, kg/kg
  std::vector<float> surface_stress;  // [y][x], of the wind in the lowest layer, m2/s2
};

// Constant in time.
struct Constants {
  std::vector<float> terrain;              // [y][x], m
  std::vector<float> land;                 // [y][x], 1 on land
  std::vector<float> coriolis;             // [y][x], 1/s
  std::vector<float> latitude, longitude;  // [y][x], degrees
  std::vector<float> base_height;          // [layer][y][x], of the layers' middles at rest, m
  std::vector<float> base_pressure;        // [layer][y][x], at those heights, Pa
};

class Model {
 public:
  explicit Model(const Grid& grid);
  // Of rows of the grid, at least min_model_rows; `advance` and `diagnose` are collective over all that have
  // the others, and what they make is bit for bit the same as in a model of all rows. `neighbours` outlives
  // the model.
  Model(const Grid& whole, const Rows& rows, Neighbours* neighbours);
  ~Model();

  // Of the model's own rows, as its states are.
  const Grid& grid() const { return grid_; }
  const Constants& constants() const { return constants_; }
  double step_seconds() const { return step_seconds_; }

  // Jets with waves: those of the weather (`seed`), and the member's own perturbation of them, as strong as
  // `perturbation` times the weather. Winds are in balance with pressure. Member 0 is the truth.
  State initial_state(uint64_t seed, int member, double perturbation) const;

  // Equal steps of at most step_seconds(). Errors: failure, where the run has blown up.
  Status advance(State& state, double seconds);

  // Of the state that the last call of advance made.
  Result<Diagnostics> diagnose(const State& state);

  // Of all layers, m3: what the dynamics conserve.
  double volume(const State& state) const;

 private:
  class Padded;
  struct Workspace;

  bool has_southern_wall() const { return first_row_ == 0; }
  bool has_northern_wall() const { return first_row_ + grid_.ny == whole_.ny; }
  void set_constants();
  void set_layers();
  void set_rest();
  Status load(const State& state);
  void store(State& state) const;
  void find_tendencies();
  void find_pressure(int j);
  void find_fluxes(int k);
  void find_slopes(int k);
  Status advance_stage(float seconds);
  Status step(float seconds);
  void carry(Padded& tracer, float seconds);
  Status dissipate(float seconds);
  void rain_out(float seconds);

  Status fill_ends(const std::vector<Padded*>& at_middles, Padded* on_faces);

  Grid whole_, grid_;  // all rows, and the model's own
  int first_row_ = 0;
  Neighbours* neighbours_ = nullptr;  // none where all rows are here
  Constants constants_;
  std::vector<float> rest_thickness_;   // [layer][y][x], m
  std::vector<float> reduced_gravity_;  // of each layer's top, m/s2
  std::vector<float> saturation_;       // [layer][y], of vapour at rest, kg/kg
  std::vector<float> corner_coriolis_;  // of the faces between rows, [ny + 1], 1/s
  double step_seconds_ = 0;
  std::unique_ptr<Workspace> work_;
};

}  // namespace neve::ensemble
