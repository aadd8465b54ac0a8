// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/ensemble/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "bench/harness/random.hpp"

namespace neve::ensemble {
namespace {

using apps::Random;

constexpr double total_depth_m = 1e4;
constexpr double surface_gravity = 2;     // reduced, of the topmost layer's top, m/s2
constexpr double stratification = 4e-4;   // N2: reduced gravity of an interface over the layer's depth, 1/s2
constexpr double coriolis_middle = 1e-4;  // 1/s
constexpr double coriolis_slope = 1.6e-11;  // beta, 1/(m s)
constexpr double wind_reserve = 40;         // of the time step, m/s
constexpr double courant = 0.5;
constexpr double diffusion_seconds = 4 * 3600;  // a wave of two cells dies in about this time
constexpr float drag_per_second = 1.0F / (2 * 86400);
constexpr double terrain_share = 0.3;  // of the lowest layer's depth

constexpr double jet_speed = 12, weather_speed = 8;  // m/s
constexpr int weather_modes = 16;

constexpr double ground_pressure = 1e5, pressure_scale_height_m = 8000;  // Pa
constexpr double saturation_at_ground = 0.018;                           // kg/kg
constexpr double vapour_scale_height_m = 2500;
constexpr float evaporation_seconds = 86400, uplift_seconds = 6 * 3600, cloud_seconds = 1200;
constexpr float land_evaporation = 0.3F;
constexpr float uplift_humidity = 0.7F;    // of saturation: above it vapour rises into the next layer
constexpr float cloud_that_stays = 2e-4F;  // kg/kg: more falls as rain
constexpr float min_mixing_ratio = 1e-8F;  // less is none, as in WRF's microphysics
constexpr float air_density = 1;           // kg/m3
constexpr int halo = 2;                    // cells around a layer, so that inner loops know no edges
constexpr float cloudy_humidity = 0.8F;    // of saturation: clouds begin to cover a cell
constexpr float cooling_by_lift = 2;       // relative fall of saturation over that of thickness

// van Leer's slope (1974): none at an extreme.
inline float limited_slope(float left, float right) {
  const float product = left * right;
  return product > 0 ? 2 * product / (left + right) : 0;
}

// What crosses a face: the upwind cell's value, to second order in space and time.
inline float face_value(float flux, float cells_per_step, float q0, float q1, float q2, float q3) {
  const float from_left = q1 + 0.5F * (1 - cells_per_step) * limited_slope(q1 - q0, q2 - q1);
  const float from_right = q2 - 0.5F * (1 - cells_per_step) * limited_slope(q2 - q1, q3 - q2);
  return flux > 0 ? from_left : from_right;
}

// Of a cell whose layer is lifted and thickened: it has cooled.
inline float lifted_saturation(float at_rest, float thickness, float rest_thickness) {
  return at_rest * std::max(0.2F, 1 - cooling_by_lift * (thickness - rest_thickness) / rest_thickness);
}

// Sums of waves that fit between the walls.
class Waves {
 public:
  Waves(Random& random, int min_wave, int max_wave) {
    for (int m = 0; m < weather_modes; ++m) {
      Wave& wave = waves_.emplace_back();
      wave.along_x = min_wave + static_cast<int>(random.uniform() * (max_wave - min_wave + 1));
      wave.along_y = 1 + static_cast<int>(random.uniform() * max_wave);
      wave.phase = 2 * std::numbers::pi * random.uniform();
      wave.tilt = random.normal() * 0.6;
      wave.strength = random.normal() / std::sqrt(weather_modes);
    }
  }

  // x and y from 0 to 1 over the domain, depth from 0 on top to 1. With `by_wave_number` the gradients of all
  // waves are alike, else the waves.
  double at(double x, double y, double depth, bool by_wave_number) const {
    double sum = 0;
    for (const Wave& w : waves_) {
      const double scale = by_wave_number ? std::hypot(2.0 * w.along_x, w.along_y) * std::numbers::pi : 1.0;
      sum += w.strength / scale * std::cos(2 * std::numbers::pi * w.along_x * x + w.phase + w.tilt * depth) *
             std::sin(std::numbers::pi * w.along_y * y);
    }
    return sum;
  }

 private:
  struct Wave {
    int along_x = 1, along_y = 1;
    double phase = 0, tilt = 0, strength = 0;
  };
  std::vector<Wave> waves_;
};

// One world for all seeds, as terrain is. x and y in cells.
class Ground {
 public:
  explicit Ground(const Grid& whole) : whole_(whole), random_(0, 0), hills_(random_, 1, 6) {}

  // More than 0 on land.
  double rise(double x, double y) const {
    return std::max(0.0, hills_.at(x / whole_.nx, y / whole_.ny, 0, false) - 0.2);
  }
  float height_m(double rise) const {
    return static_cast<float>(terrain_share * (total_depth_m / whole_.layers) * std::min(1.0, rise));
  }

 private:
  const Grid& whole_;
  Random random_;
  Waves hills_;
};

}  // namespace

// Cells of all layers with more on each side.
class Model::Padded {
 public:
  explicit Padded(const Grid& g)
      : nx_(g.nx), ny_(g.ny), layers_(g.layers), stride_(g.nx + 2 * halo), rows_(g.ny + 2 * halo) {
    values_.resize(static_cast<size_t>(stride_) * static_cast<size_t>(rows_) * static_cast<size_t>(g.layers));
  }

  float* row(int k, int j) {
    return values_.data() + (static_cast<ptrdiff_t>(k) * rows_ + j + halo) * stride_ + halo;
  }
  const float* row(int k, int j) const { return const_cast<Padded*>(this)->row(k, j); }

  void fill_sides(int k, int j) {
    float* const r = row(k, j);
    for (int i = 1; i <= halo; ++i) {
      r[-i] = r[nx_ - i];
      r[nx_ - 1 + i] = r[i - 1];
    }
  }
  void fill_sides() {
    for (int k = 0; k < layers_; ++k) {
      for (int j = -halo; j < ny_ + halo; ++j) fill_sides(k, j);
    }
  }
  // Values at the middle of a row: mirrored at a wall.
  void mirror(bool south, bool north) {
    for (int k = 0; k < layers_; ++k) {
      for (int j = 1; j <= halo; ++j) {
        if (south) std::copy_n(row(k, j - 1) - halo, stride_, row(k, -j) - halo);
        if (north) std::copy_n(row(k, ny_ - j) - halo, stride_, row(k, ny_ - 1 + j) - halo);
      }
    }
  }
  // Values on faces between rows, which a wall holds at 0.
  void mirror_faces(bool south, bool north) {
    const auto negate = [&](int k, int inside, int outside) {
      const float* const from = row(k, inside);
      float* const to = row(k, outside);
      for (int i = -halo; i < nx_ + halo; ++i) to[i] = -from[i];
    };
    for (int k = 0; k < layers_; ++k) {
      if (south) {
        std::fill_n(row(k, 0) - halo, stride_, 0.0F);
        for (int j = 1; j <= halo; ++j) negate(k, j, -j);
      }
      if (north) {
        std::fill_n(row(k, ny_) - halo, stride_, 0.0F);
        negate(k, ny_ - 1, ny_ + 1);
      }
    }
  }
  // `halo` rows of every layer from `first` on, with their sides.
  void append_rows(int first, std::vector<float>& to) const {
    for (int k = 0; k < layers_; ++k) {
      const float* const from = row(k, first) - halo;
      to.insert(to.end(), from, from + halo * stride_);
    }
  }
  // The same from `from` on; returns what follows.
  const float* take_rows(int first, const float* from) {
    for (int k = 0; k < layers_; ++k, from += halo * stride_) {
      std::copy_n(from, halo * stride_, row(k, first) - halo);
    }
    return from;
  }

  // From and to values without a halo.
  void load(const std::vector<float>& from) {
    const float* next = from.data();
    for (int k = 0; k < layers_; ++k) {
      for (int j = 0; j < ny_; ++j, next += nx_) std::copy_n(next, nx_, row(k, j));
    }
  }
  void store(std::vector<float>& to) const {
    float* next = to.data();
    for (int k = 0; k < layers_; ++k) {
      for (int j = 0; j < ny_; ++j, next += nx_) std::copy_n(row(k, j), nx_, next);
    }
  }

 private:
  int nx_, ny_, layers_;
  ptrdiff_t stride_, rows_;
  std::vector<float> values_;
};

State::State(const Grid& grid)
    : u(grid.cells()),
      v(grid.cells()),
      thickness(grid.cells()),
      vapour(grid.cells()),
      cloud(grid.cells()),
      rain(grid.columns()) {}

struct Model::Workspace {
  explicit Workspace(const Grid& g)
      : u(g),
        v(g),
        h(g),
        u0(g),
        v0(g),
        h0(g),
        vapour(g),
        cloud(g),
        flux_x(g),
        flux_y(g),
        du(g),
        dv(g),
        dh(g),
        pressure(g),
        height(g),
        bernoulli(g),
        vorticity(g),
        rest(g),
        carried(g),
        condensed(g),
        rain(g.columns()) {}

  Padded u, v, h;     // where the stage is
  Padded u0, v0, h0;  // where the step began
  Padded vapour, cloud;
  Padded flux_x, flux_y;  // of thickness through faces, m2/s
  Padded du, dv, dh;      // per second
  Padded pressure, height;
  Padded bernoulli;  // pressure and kinetic energy
  Padded vorticity;  // absolute, at the southwestern corners
  Padded rest;       // thickness at rest
  Padded carried;    // a tracer after a step
  Padded condensed;  // since the call of advance began
  std::vector<float> rain;
};

Model::Model(const Grid& grid) : Model(grid, {0, grid.ny}, nullptr) {}

Model::Model(const Grid& whole, const Rows& rows, Neighbours* neighbours)
    : whole_(whole), grid_(whole), first_row_(rows.first), neighbours_(neighbours) {
  grid_.ny = rows.count;
  work_ = std::make_unique<Workspace>(grid_);
  const double depth = total_depth_m / whole.layers;
  reduced_gravity_.assign(static_cast<size_t>(whole.layers), static_cast<float>(stratification * depth));
  reduced_gravity_[0] = static_cast<float>(surface_gravity);
  const double wave_speed =
      std::sqrt(surface_gravity * total_depth_m + stratification * total_depth_m * total_depth_m / 9);
  step_seconds_ = courant * whole.spacing_m / (wave_speed + wind_reserve);
  set_constants();
  set_rest();
}

Model::~Model() = default;

// Thickness at rest with the rows beyond the band, of which only the lowest layer's differs by column.
void Model::set_rest() {
  Padded& rest = work_->rest;
  rest.load(rest_thickness_);
  const Ground ground(whole_);
  const double depth = total_depth_m / whole_.layers;
  for (const int j : {-2, -1, grid_.ny, grid_.ny + 1}) {
    const int row = first_row_ + j;
    const int mirrored = row < 0 ? -1 - row : row < whole_.ny ? row : 2 * whole_.ny - 1 - row;
    for (int k = 0; k < grid_.layers; ++k) {
      const double top = total_depth_m - depth * k;
      for (int i = 0; i < grid_.nx; ++i) {
        const bool is_lowest = k + 1 == grid_.layers;
        const double bottom = is_lowest
                                  ? static_cast<double>(ground.height_m(ground.rise(i + 0.5, mirrored + 0.5)))
                                  : top - depth;
        rest.row(k, j)[i] = static_cast<float>(top - bottom);
      }
    }
  }
  rest.fill_sides();
}

void Model::set_constants() {
  const auto nx = static_cast<size_t>(grid_.nx), ny = static_cast<size_t>(grid_.ny);
  const double middle_y = whole_.ny / 2.0;
  const auto coriolis_at = [&](double row) {
    return coriolis_middle + coriolis_slope * (row - middle_y) * grid_.spacing_m;
  };
  for (size_t j = 0; j <= ny; ++j)
    corner_coriolis_.push_back(static_cast<float>(coriolis_at(first_row_ + static_cast<double>(j))));
  const Ground ground(whole_);
  Constants& c = constants_;
  for (auto* field : {&c.terrain, &c.land, &c.coriolis, &c.latitude, &c.longitude}) field->resize(nx * ny);
  for (size_t j = 0; j < ny; ++j) {
    const double y = first_row_ + static_cast<double>(j) + 0.5;
    for (size_t i = 0; i < nx; ++i) {
      const double x = static_cast<double>(i) + 0.5, rise = ground.rise(x, y);
      const size_t at = j * nx + i;
      c.terrain[at] = ground.height_m(rise);
      c.land[at] = rise > 0 ? 1.0F : 0.0F;
      c.coriolis[at] = static_cast<float>(coriolis_at(y));
      constexpr double degree_m = 111e3;
      c.latitude[at] = static_cast<float>(45 + (y - middle_y) * grid_.spacing_m / degree_m);
      c.longitude[at] = static_cast<float>(x * grid_.spacing_m / degree_m);
    }
  }
  set_layers();
}

// What layers are at rest.
void Model::set_layers() {
  const size_t columns = grid_.columns(), layers = static_cast<size_t>(grid_.layers);
  const double depth = total_depth_m / grid_.layers;
  Constants& c = constants_;
  rest_thickness_.assign(columns * layers, static_cast<float>(depth));
  c.base_height.resize(columns * layers);
  c.base_pressure.resize(columns * layers);
  for (size_t k = 0; k < layers; ++k) {
    const double top = total_depth_m - depth * static_cast<double>(k);
    for (size_t at = 0; at < columns; ++at) {
      const double bottom = k + 1 < layers ? top - depth : static_cast<double>(c.terrain[at]);
      rest_thickness_[k * columns + at] = static_cast<float>(top - bottom);
      const double middle = (top + bottom) / 2;
      c.base_height[k * columns + at] = static_cast<float>(middle);
      c.base_pressure[k * columns + at] =
          static_cast<float>(ground_pressure * std::exp(-middle / pressure_scale_height_m));
    }
    for (int j = 0; j < grid_.ny; ++j) {
      // Less with height and towards the pole.
      const double warmth = std::exp(-1.2 * (first_row_ + j) / static_cast<double>(whole_.ny));
      saturation_.push_back(static_cast<float>(saturation_at_ground *
                                               std::exp(-(top - depth) / vapour_scale_height_m) * warmth));
    }
  }
}

State Model::initial_state(uint64_t seed, int member, double perturbation) const {
  Random weather_random(seed, 0);
  Random member_random(seed, 1 + static_cast<uint64_t>(member));
  const Waves weather(weather_random, 1, 4), moisture(weather_random, 1, 5);
  const Waves own_weather(member_random, 1, 5), own_moisture(member_random, 1, 5);
  const int nx = whole_.nx, ny = whole_.ny, layers = whole_.layers, rows = grid_.ny;
  const double length = nx * grid_.spacing_m, width = ny * grid_.spacing_m;
  const double scale = std::min(length, width);
  // Stream function of layer k; x and y in cells of all rows.
  const auto stream = [&](double x, double y, int k) {
    if (k < 0) return 0.0;
    const double depth = (k + 0.5) / layers;
    const double jet_width = width / 8;
    const double jet = -jet_speed * jet_width * std::tanh((y / ny - 0.5) * width / jet_width);
    const double waves =
        weather.at(x / nx, y / ny, depth, true) + perturbation * own_weather.at(x / nx, y / ny, depth, true);
    return (1 - 0.5 * depth) * (jet + 2 * weather_speed * scale * waves);
  };
  State state(grid_);
  const auto cell = [&](int k, int j, int i) {
    return (static_cast<size_t>(k) * static_cast<size_t>(rows) + static_cast<size_t>(j)) *
               static_cast<size_t>(nx) +
           static_cast<size_t>(i);
  };
  const auto gravity = [&](int k) { return static_cast<double>(reduced_gravity_[static_cast<size_t>(k)]); };
  for (int k = 0; k < layers; ++k) {
    for (int row = 0; row < rows; ++row) {
      const int j = first_row_ + row;
      for (int i = 0; i < nx; ++i) {
        const size_t at = cell(k, row, i);
        const double here = stream(i, j, k), dx = grid_.spacing_m;
        state.u[at] = static_cast<float>(-(stream(i, j + 1, k) - here) / dx);
        state.v[at] = j == 0 ? 0 : static_cast<float>((stream(i + 1, j, k) - here) / dx);
        // Geostrophic: the pressure of a layer is f times its stream function, and differs from that of the
        // layer above by the height of the interface times its gravity.
        const double x = i + 0.5, y = j + 0.5, middle = stream(x, y, k);
        double lift = coriolis_middle * (middle - stream(x, y, k - 1)) / gravity(k);
        if (k + 1 < layers) lift -= coriolis_middle * (stream(x, y, k + 1) - middle) / gravity(k + 1);
        state.thickness[at] = static_cast<float>(static_cast<double>(rest_thickness_[at]) + lift);
        const double depth = (k + 0.5) / layers;
        const double humidity = 1.4 * (depth - 0.5) + moisture.at(x / nx, y / ny, depth, false) +
                                perturbation * own_moisture.at(x / nx, y / ny, depth, false);
        const double saturation = static_cast<double>(
            saturation_[static_cast<size_t>(k) * static_cast<size_t>(rows) + static_cast<size_t>(row)]);
        state.vapour[at] = static_cast<float>(std::clamp(humidity, 0.0, 0.9) * saturation);
      }
    }
  }
  return state;
}

// Sides of the band's rows, and the rows beyond its ends: mirrored at walls, the neighbours' elsewhere.
Status Model::fill_ends(const std::vector<Padded*>& at_middles, Padded* on_faces) {
  std::vector<Padded*> all = at_middles;
  if (on_faces != nullptr) all.push_back(on_faces);
  for (Padded* values : all) values->fill_sides();
  const bool south = has_southern_wall(), north = has_northern_wall();
  for (Padded* values : at_middles) values->mirror(south, north);
  if (on_faces != nullptr) on_faces->mirror_faces(south, north);
  if (neighbours_ == nullptr) return {};
  std::vector<float> southern, northern;
  for (const Padded* values : all) {
    values->append_rows(0, southern);
    values->append_rows(grid_.ny - halo, northern);
  }
  std::vector<float> from_south(southern.size()), from_north(northern.size());
  NEVE_TRY(neighbours_->exchange(southern, northern, from_south, from_north));
  const float *next_south = from_south.data(), *next_north = from_north.data();
  for (Padded* values : all) {
    if (!south) next_south = values->take_rows(-halo, next_south);
    if (!north) next_north = values->take_rows(grid_.ny, next_north);
  }
  return {};
}

Status Model::load(const State& state) {
  Workspace& w = *work_;
  w.u.load(state.u);
  w.v.load(state.v);
  w.h.load(state.thickness);
  w.vapour.load(state.vapour);
  w.cloud.load(state.cloud);
  w.rain = state.rain;
  return fill_ends({&w.u, &w.h}, &w.v);
}

void Model::store(State& state) const {
  work_->u.store(state.u);
  work_->v.store(state.v);
  work_->h.store(state.thickness);
  work_->vapour.store(state.vapour);
  work_->cloud.store(state.cloud);
  state.rain = work_->rain;
}

// du/dt, dv/dt and dh/dt at u, v, h, in vector-invariant form; also pressure, heights and fluxes.
void Model::find_tendencies() {
  for (int j = -1; j <= grid_.ny; ++j) find_pressure(j);
  for (int k = 0; k < grid_.layers; ++k) {
    find_fluxes(k);
    find_slopes(k);
  }
}

// Of row j: heights of interfaces above rest from the ground up, then pressure from the top down.
void Model::find_pressure(int j) {
  Workspace& w = *work_;
  const int nx = grid_.nx, layers = grid_.layers;
  for (int k = layers - 1; k >= 0; --k) {
    const float *const h = w.h.row(k, j), *const rest = w.rest.row(k, j);
    float* const height = w.height.row(k, j);
    const float* const below = k + 1 < layers ? w.height.row(k + 1, j) : nullptr;
    for (int i = -1; i <= nx; ++i) height[i] = h[i] - rest[i];
    if (below == nullptr) continue;
    for (int i = -1; i <= nx; ++i) height[i] += below[i];
  }
  for (int k = 0; k < layers; ++k) {
    const float gravity = reduced_gravity_[static_cast<size_t>(k)];
    const float* const height = w.height.row(k, j);
    float* const pressure = w.pressure.row(k, j);
    for (int i = -1; i <= nx; ++i) pressure[i] = gravity * height[i];
    if (k == 0) continue;
    const float* const above = w.pressure.row(k - 1, j);
    for (int i = -1; i <= nx; ++i) pressure[i] += above[i];
  }
}

// Of layer k: Bernoulli's function at the centres of cells, vorticity at their corners, fluxes at their
// faces.
void Model::find_fluxes(int k) {
  Workspace& w = *work_;
  const int nx = grid_.nx, ny = grid_.ny;
  const auto per_m = static_cast<float>(1 / grid_.spacing_m);
  for (int j = -1; j <= ny; ++j) {
    const float *const u = w.u.row(k, j), *const v = w.v.row(k, j), *const v_north = w.v.row(k, j + 1);
    const float* const pressure = w.pressure.row(k, j);
    float* const bernoulli = w.bernoulli.row(k, j);
    for (int i = -1; i <= nx; ++i) {
      bernoulli[i] =
          pressure[i] + 0.25F * (u[i] * u[i] + u[i + 1] * u[i + 1] + v[i] * v[i] + v_north[i] * v_north[i]);
    }
  }
  for (int j = 0; j <= ny; ++j) {
    const float *const u = w.u.row(k, j), *const u_south = w.u.row(k, j - 1), *const v = w.v.row(k, j);
    const float *const h = w.h.row(k, j), *const h_south = w.h.row(k, j - 1);
    float *const vorticity = w.vorticity.row(k, j), *const flux_y = w.flux_y.row(k, j);
    float* const flux_x = w.flux_x.row(k, j);
    const float f = corner_coriolis_[static_cast<size_t>(j)];
    for (int i = 0; i <= nx; ++i) {
      vorticity[i] = f + ((v[i] - v[i - 1]) - (u[i] - u_south[i])) * per_m;
      flux_y[i] = v[i] * 0.5F * (h[i] + h_south[i]);
      flux_x[i] = u[i] * 0.5F * (h[i] + h[i - 1]);
    }
  }
}

// Of layer k: what changes a second.
void Model::find_slopes(int k) {
  Workspace& w = *work_;
  const int nx = grid_.nx, ny = grid_.ny;
  const auto per_m = static_cast<float>(1 / grid_.spacing_m);
  for (int j = 0; j < ny; ++j) {
    const float *const u = w.u.row(k, j), *const u_south = w.u.row(k, j - 1);
    const float *const v = w.v.row(k, j), *const v_north = w.v.row(k, j + 1);
    const float *const a = w.vorticity.row(k, j), *const a_north = w.vorticity.row(k, j + 1);
    const float *const b = w.bernoulli.row(k, j), *const b_south = w.bernoulli.row(k, j - 1);
    const float *const flux_x = w.flux_x.row(k, j), *const flux_y = w.flux_y.row(k, j);
    const float* const flux_north = w.flux_y.row(k, j + 1);
    float *const du = w.du.row(k, j), *const dv = w.dv.row(k, j), *const dh = w.dh.row(k, j);
    const float inside = j == 0 && has_southern_wall() ? 0.0F : 1.0F;  // nothing through the wall
    for (int i = 0; i < nx; ++i) {
      du[i] = 0.25F * (a[i] * (v[i - 1] + v[i]) + a_north[i] * (v_north[i - 1] + v_north[i])) -
              (b[i] - b[i - 1]) * per_m;
      dv[i] = inside * (-0.25F * (a[i] * (u_south[i] + u[i]) + a[i + 1] * (u_south[i + 1] + u[i + 1])) -
                        (b[i] - b_south[i]) * per_m);
      dh[i] = -((flux_x[i + 1] - flux_x[i]) + (flux_north[i] - flux_y[i])) * per_m;
    }
  }
}

// From where the step began, by the tendencies over `seconds`.
Status Model::advance_stage(float seconds) {
  Workspace& w = *work_;
  for (int k = 0; k < grid_.layers; ++k) {
    for (int j = 0; j < grid_.ny; ++j) {
      const auto add = [&](const Padded& from, const Padded& slope, Padded& to) {
        const float *const start = from.row(k, j), *const per_second = slope.row(k, j);
        float* const result = to.row(k, j);
        for (int i = 0; i < grid_.nx; ++i) result[i] = start[i] + seconds * per_second[i];
      };
      add(w.u0, w.du, w.u);
      add(w.v0, w.dv, w.v);
      add(w.h0, w.dh, w.h);
    }
  }
  return fill_ends({&w.u, &w.h}, &w.v);
}

Status Model::step(float seconds) {
  Workspace& w = *work_;
  w.u0 = w.u;
  w.v0 = w.v;
  w.h0 = w.h;
  for (const float share : {1.0F / 3, 1.0F / 2, 1.0F}) {
    find_tendencies();
    NEVE_TRY(advance_stage(share * seconds));
  }
  NEVE_TRY(fill_ends({&w.vapour, &w.cloud}, nullptr));
  carry(w.vapour, seconds);
  carry(w.cloud, seconds);
  NEVE_TRY(dissipate(seconds));
  rain_out(seconds);
  return {};
}

// With the fluxes that took the thickness from h0 to h, so that a uniform tracer stays uniform.
void Model::carry(Padded& tracer, float seconds) {
  Workspace& w = *work_;
  const int nx = grid_.nx, ny = grid_.ny;
  const auto per_m = static_cast<float>(1 / grid_.spacing_m);
  const float steps_per_speed = seconds * per_m;
  std::vector<float> through_x(static_cast<size_t>(nx) + 1), through_y(static_cast<size_t>(nx));
  std::vector<float> through_south(static_cast<size_t>(nx));
  // Through the southern faces of row j of layer k.
  const auto cross = [&](int k, int j, std::vector<float>& through) {
    const float *const q_beyond = tracer.row(k, j - 2), *const q_south = tracer.row(k, j - 1);
    const float *const q = tracer.row(k, j), *const q_north = tracer.row(k, j + 1);
    const float *const v = w.v0.row(k, j), *const flux_y = w.flux_y.row(k, j);
    for (int i = 0; i < nx; ++i) {
      through[static_cast<size_t>(i)] = flux_y[i] * face_value(flux_y[i], std::abs(v[i]) * steps_per_speed,
                                                               q_beyond[i], q_south[i], q[i], q_north[i]);
    }
  };
  for (int k = 0; k < grid_.layers; ++k) {
    if (has_southern_wall()) {
      std::fill(through_south.begin(), through_south.end(), 0.0F);
    } else {
      cross(k, 0, through_south);
    }
    for (int j = 0; j < ny; ++j) {
      const float *const q = tracer.row(k, j), *const u = w.u0.row(k, j), *const flux_x = w.flux_x.row(k, j);
      for (int i = 0; i <= nx; ++i) {
        through_x[static_cast<size_t>(i)] =
            flux_x[i] *
            face_value(flux_x[i], std::abs(u[i]) * steps_per_speed, q[i - 2], q[i - 1], q[i], q[i + 1]);
      }
      cross(k, j + 1, through_y);
      const float *const h0 = w.h0.row(k, j), *const h = w.h.row(k, j);
      float* const carried = w.carried.row(k, j);
      for (int i = 0; i < nx; ++i) {
        const auto at = static_cast<size_t>(i);
        const float out = (through_x[at + 1] - through_x[at]) + (through_y[at] - through_south[at]);
        const float result = (h0[i] * q[i] - steps_per_speed * out) / h[i];
        carried[i] = result < min_mixing_ratio ? 0 : result;
      }
      std::swap(through_south, through_y);
    }
  }
  std::swap(tracer, w.carried);
}

// Diffusion of winds and of what thickness differs from rest, and drag at the ground.
Status Model::dissipate(float seconds) {
  Workspace& w = *work_;
  const auto share = static_cast<float>(static_cast<double>(seconds) / (8 * diffusion_seconds));
  const auto diffuse = [&](Padded& values, int k, bool on_faces) {
    const int first = on_faces && has_southern_wall() ? 1 : 0;  // nothing moves on a wall
    for (int j = first; j < grid_.ny; ++j) {
      const float *const here = values.row(k, j), *const south = values.row(k, j - 1);
      const float* const north = values.row(k, j + 1);
      float* const result = w.carried.row(k, j);
      for (int i = 0; i < grid_.nx; ++i) {
        result[i] = here[i] + share * ((here[i - 1] + here[i + 1]) + (south[i] + north[i]) - 4 * here[i]);
      }
    }
    for (int j = first; j < grid_.ny; ++j) std::copy_n(w.carried.row(k, j), grid_.nx, values.row(k, j));
  };
  for (int k = 0; k < grid_.layers; ++k) {
    for (int j = -1; j <= grid_.ny; ++j) {
      float* const h = w.h.row(k, j);
      const float* const rest = w.rest.row(k, j);
      for (int i = -1; i <= grid_.nx; ++i) h[i] -= rest[i];
    }
    diffuse(w.u, k, false);
    diffuse(w.v, k, true);
    diffuse(w.h, k, false);
    for (int j = 0; j < grid_.ny; ++j) {
      float* const h = w.h.row(k, j);
      const float* const rest = w.rest.row(k, j);
      for (int i = 0; i < grid_.nx; ++i) h[i] += rest[i];
      if (k + 1 < grid_.layers) continue;
      float *const u = w.u.row(k, j), *const v = w.v.row(k, j);
      for (int i = 0; i < grid_.nx; ++i) {
        u[i] -= seconds * drag_per_second * u[i];
        v[i] -= seconds * drag_per_second * v[i];
      }
    }
  }
  return fill_ends({&w.u, &w.h}, &w.v);
}

// Evaporation from the ground, rise of vapour, condensation, rain.
void Model::rain_out(float seconds) {
  Workspace& w = *work_;
  const int nx = grid_.nx, ny = grid_.ny, layers = grid_.layers;
  for (int j = 0; j < ny; ++j) {
    for (int k = layers - 1; k >= 0; --k) {
      const float at_rest =
          saturation_[static_cast<size_t>(k) * static_cast<size_t>(ny) + static_cast<size_t>(j)];
      const float *const h = w.h.row(k, j), *const rest = w.rest.row(k, j);
      const float *const u = w.u.row(k, j), *const v = w.v.row(k, j);
      float *const vapour = w.vapour.row(k, j), *const cloud = w.cloud.row(k, j);
      float* const condensed = w.condensed.row(k, j);
      float* const vapour_above = k > 0 ? w.vapour.row(k - 1, j) : nullptr;
      const float* const h_above = k > 0 ? w.h.row(k - 1, j) : nullptr;
      const size_t column = static_cast<size_t>(j) * static_cast<size_t>(nx);
      for (int i = 0; i < nx; ++i) {
        const size_t at = column + static_cast<size_t>(i);
        const float saturation = lifted_saturation(at_rest, h[i], rest[i]);
        if (k + 1 == layers && vapour[i] < saturation) {
          const float wind = std::sqrt(u[i] * u[i] + v[i] * v[i]);
          const float wetness = constants_.land[at] > 0 ? land_evaporation : 1;
          vapour[i] += wetness * (1 + 0.2F * wind) * seconds / evaporation_seconds * (saturation - vapour[i]);
        }
        if (vapour_above != nullptr && vapour[i] > uplift_humidity * saturation) {
          const float risen = seconds / uplift_seconds * (vapour[i] - uplift_humidity * saturation);
          vapour[i] -= risen;
          vapour_above[i] += risen * h[i] / h_above[i];
        }
        if (vapour[i] > saturation) {
          cloud[i] += vapour[i] - saturation;
          condensed[i] += vapour[i] - saturation;
          vapour[i] = saturation;
        } else if (cloud[i] > 0) {
          const float evaporated = std::min(cloud[i], seconds / cloud_seconds * (saturation - vapour[i]));
          cloud[i] -= evaporated;
          vapour[i] += evaporated;
        }
        if (cloud[i] > cloud_that_stays) {
          const float fallen = seconds / cloud_seconds * (cloud[i] - cloud_that_stays);
          cloud[i] -= fallen;
          w.rain[at] += fallen * air_density * h[i];
        }
      }
    }
  }
}

Status Model::advance(State& state, double seconds) {
  NEVE_TRY(load(state));
  work_->condensed = Padded(grid_);
  const int steps = std::max(1, static_cast<int>(std::ceil(seconds / step_seconds_)));
  for (int s = 0; s < steps; ++s) NEVE_TRY(step(static_cast<float>(seconds / steps)));
  store(state);
  for (size_t at = 0; at < state.thickness.size(); ++at) {
    if (std::isfinite(state.u[at]) && std::isfinite(state.v[at]) && state.thickness[at] > 1) continue;
    return failure(fmt::format(
        "the model has blown up: at cell {} of {} winds are {} and {} m/s and the layer is {} m thick", at,
        state.thickness.size(), state.u[at], state.v[at], state.thickness[at]));
  }
  return {};
}

Result<Diagnostics> Model::diagnose(const State& state) {
  NEVE_TRY(load(state));
  find_tendencies();
  Diagnostics d;
  d.w.resize(grid_.cells());
  d.height.resize(grid_.cells());
  d.pressure.resize(grid_.cells());
  d.surface_stress.resize(grid_.columns());
  // An interface rises by what all layers below gain.
  for (int k = grid_.layers - 2; k >= 0; --k) {
    for (int j = 0; j < grid_.ny; ++j) {
      float* const here = work_->dh.row(k, j);
      const float* const below = work_->dh.row(k + 1, j);
      for (int i = 0; i < grid_.nx; ++i) here[i] += below[i];
    }
  }
  work_->dh.store(d.w);
  work_->height.store(d.height);
  work_->pressure.store(d.pressure);
  d.condensed.resize(grid_.cells());
  work_->condensed.store(d.condensed);
  d.cloud_cover.resize(grid_.cells());
  for (size_t at = 0; at < grid_.cells(); ++at) {
    const float saturation = lifted_saturation(saturation_[at / static_cast<size_t>(grid_.nx)],
                                               state.thickness[at], rest_thickness_[at]);
    const float humidity = std::clamp(state.vapour[at] / saturation, cloudy_humidity, 1.0F);
    const float moist = (humidity - cloudy_humidity) / (1 - cloudy_humidity);
    d.cloud_cover[at] = moist * moist;
  }
  const size_t lowest = grid_.cells() - grid_.columns();
  for (size_t at = 0; at < grid_.columns(); ++at) {
    const float u = state.u[lowest + at], v = state.v[lowest + at];
    d.surface_stress[at] = 1.3e-3F * (u * u + v * v);
  }
  return d;
}

double Model::volume(const State& state) const {
  const double sum = std::accumulate(state.thickness.begin(), state.thickness.end(), 0.0);
  return sum * grid_.spacing_m * grid_.spacing_m;
}

}  // namespace neve::ensemble
