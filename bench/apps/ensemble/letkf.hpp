// SPDX-License-Identifier: BSD-3-Clause
// The local ensemble transform Kalman filter of Hunt, Kostelich and Szunyogh (Physica D 230, 2007), with
// localization by inflated observation errors. Needs neither MPI nor files.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "bench/apps/ensemble/model.hpp"

namespace neve::ensemble {

// What is analysed, and observed at stations.
enum class Analysed : int { u = 0, v = 1, thickness = 2, vapour = 3 };
inline constexpr int analysed_variables = 4;

// A column with observations of each variable in each layer at each output of a window. Their values, and
// what the members have there, lie in the network's rows from `first` on: [output][variable][layer].
struct Station {
  int x = 0, y = 0;
  size_t first = 0;
};

struct Network {
  int outputs = 1;
  std::vector<Station> stations;
  std::vector<double> values;        // observed
  std::vector<double> error_stddev;  // of each observation's noise
  Eigen::MatrixXd background;        // [observation, member]: the same places in the members
};

struct FilterSettings {
  double inflation = 1.1;    // of the background's covariance
  double radius_m = 250e3;   // the localization function is 0 beyond twice this
  double radius_layers = 1;  // and beyond twice this above and below
};

// Gaspari and Cohn's fifth-order function (1999, eq. 4.10) of distance over radius: 1 at 0, 0 from 2 on.
double localization(double distance_over_radius);

// The members' transform for one place (Hunt's steps 4 to 8): column i gives analysis member i as
// mean + perturbations * column. `perturbations` is [observation, member] with mean 0; `precision` the
// inverse variance of each observation's error, localized.
Eigen::MatrixXd ensemble_transform(const Eigen::MatrixXd& perturbations, const Eigen::VectorXd& innovation,
                                   const Eigen::VectorXd& precision, double inflation);

// Rows [first_row, first_row + rows) of all members' analysed variables.
struct Band {
  int first_row = 0, rows = 0;
  // [variable][member][layer][row][x]
  std::vector<float> values;

  size_t layer_values(const Grid& grid) const {
    return static_cast<size_t>(rows) * static_cast<size_t>(grid.nx);
  }
  size_t block_values(const Grid& grid) const {
    return layer_values(grid) * static_cast<size_t>(grid.layers);
  }
  float* block(const Grid& grid, int variable, int member, int members) {
    return values.data() + static_cast<size_t>(variable * members + member) * block_values(grid);
  }
};

// The analysis in place of the background. Vapour is observed and analysed by itself: with few members its
// covariances with winds are mostly noise (variable localization, Kang et al. 2011). Cells without
// observations nearby stay as they are. Every cell is worked out alone, so the result does not depend on how
// rows are dealt out. Vapour does not fall below 0.
void analyse(const Grid& grid, int members, const Network& network, const FilterSettings& settings,
             Band& band);

}  // namespace neve::ensemble
