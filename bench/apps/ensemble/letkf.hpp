// SPDX-License-Identifier: BSD-3-Clause
// The local ensemble transform Kalman filter of Hunt, Kostelich and Szunyogh (Physica D 230, 2007). Localized
// in space by inflated observation errors and among variables by groups; inflation estimated from the
// observations (Wang and Bishop 2003), relaxation to the prior spread (Whitaker and Hamill 2012), and
// transforms that are interpolated between places (Yang et al. 2009), which keeps the analysis smooth. Needs
// neither MPI nor files.
#pragma once

#include <Eigen/Core>
#include <array>
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

// Variables that are analysed by one transform: winds; thickness; vapour.
inline constexpr int analysis_groups = 3;
inline constexpr std::array<const char*, analysis_groups> analysis_group_names = {"winds", "thickness",
                                                                                  "vapour"};
using GroupInflation = std::array<double, analysis_groups>;

struct FilterSettings {
  // Least and most inflation of the background's covariance. Between them it is what the observations ask
  // for, for each group: (mean square innovation - 1) / mean variance of the members, in units of the noise.
  double inflation = 1, max_inflation = 2;
  double relaxation = 0;    // of the analysis' spread to the background's: 0 not at all, 1 to the whole of it
  double radius_m = 400e3;  // the localization function is 0 beyond twice this
  double radius_layers = 2;  // and beyond twice this above and below
  // Weight of observations of thickness in the analysis of winds, and the other way round.
  double thickness_for_winds = 1, winds_for_thickness = 1;
  int weight_spacing = 4;  // cells between places with transforms of their own; others interpolate
};

// Gaspari and Cohn's fifth-order function (1999, eq. 4.10) of distance over radius: 1 at 0, 0 from 2 on.
double localization(double distance_over_radius);

// What observations say of the members' weights. It adds up over observations.
struct Evidence {
  Eigen::MatrixXd precision;  // Y^T R^-1 Y, [member, member]
  Eigen::VectorXd pull;       // Y^T R^-1 (observed - mean)
};
// `perturbations` is Y, [observation, member] with mean 0; `precision` the inverse variance of each
// observation's error, localized.
Evidence evidence_of(const Eigen::MatrixXd& perturbations, const Eigen::VectorXd& innovation,
                     const Eigen::VectorXd& precision);

// The members' transform for one place (Hunt's steps 4 to 8): column i gives analysis member i as
// mean + perturbations * column.
Eigen::MatrixXd ensemble_transform(const Evidence& evidence, double inflation);

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

// The analysis in place of the background; returns the inflation that was taken. Vapour is observed and
// analysed by itself: its covariances with winds are mostly noise (variable localization, Kang et al. 2011).
// Cells without observations nearby stay as they are. Every transform depends on its place and the network
// alone, so the result does not depend on how rows are dealt out. Vapour does not fall below 0.
GroupInflation analyse(const Grid& grid, int members, const Network& network, const FilterSettings& settings,
                       Band& band);

}  // namespace neve::ensemble
