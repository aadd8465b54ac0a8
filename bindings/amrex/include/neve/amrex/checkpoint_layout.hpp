// SPDX-License-Identifier: BSD-3-Clause
// What a checkpoint's file must say beyond a plotfile's header to give the MultiFabs back. It is a text that
// travels as a side file:
//     neve checkpoint 1
//     centring 0 1 0         1 where values are on nodes
//     ghosts 2 2 2           layers stored
//     unit 16 16 16          Spread::unit, a line for each level
#pragma once

#include <AMReX_IndexType.H>
#include <AMReX_IntVect.H>

#include <sstream>
#include <string>
#include <vector>

#include "neve/amrex/spread.hpp"
#include "neve/hierarchy.hpp"
#include "neve/limits.hpp"
#include "neve/status.hpp"

namespace neve::amrex {

struct CheckpointLayout {
  static constexpr const char* file_name = "neve_checkpoint";
  static constexpr const char* first_line = "neve checkpoint 1";

  ::amrex::IndexType centring;
  ::amrex::IntVect ghosts{0};
  std::vector<Spread> spreads;  // by level

  std::string to_text() const {
    std::ostringstream text;
    const auto line = [&](const char* key, const IntVect& v) {
      text << key << ' ' << v[0] << ' ' << v[1] << ' ' << v[2] << '\n';
    };
    text << first_line << '\n';
    line("centring", to_neve(centring.ixType(), 0));
    line("ghosts", to_neve(ghosts, 0));
    for (const Spread& spread : spreads) line("unit", spread.unit);
    return text.str();
  }

  static Result<CheckpointLayout> parse(const std::string& bytes, const Hierarchy& h) {
    std::istringstream text(bytes);
    std::string line;
    std::getline(text, line);
    if (line != first_line) {
      return corrupt(std::string(file_name) + " begins with \"" + line + "\"; \"" + first_line +
                     "\" is read here");
    }
    if (h.dims != AMREX_SPACEDIM) {
      return usage_error("it has " + std::to_string(h.dims) + " dimensions; this program has " +
                         std::to_string(AMREX_SPACEDIM));
    }
    CheckpointLayout layout;
    NEVE_ASSIGN(const IntVect centring, parse_line(text, "centring", 0, 1));
    NEVE_ASSIGN(const IntVect ghosts, parse_line(text, "ghosts", 0, max_ghosts));
    for (int d = 0; d < AMREX_SPACEDIM; ++d) {
      const auto i = static_cast<size_t>(d);
      if (centring[i] == 1) layout.centring.set(d);
      layout.ghosts[d] = ghosts[i];
    }
    for (size_t l = 0; l < h.levels.size(); ++l) {
      Spread spread;
      NEVE_ASSIGN(spread.unit, parse_line(text, "unit", 1, max_cells));
      for (size_t d = 0; d < AMREX_SPACEDIM; ++d) spread.reach[d] = 2 * ghosts[d] + centring[d];
      for (const Box& box : h.levels[l].boxes) {
        if (spread.cells(box).empty())
          return corrupt("a box has fewer values than " + std::string(file_name) + " says");
      }
      layout.spreads.push_back(spread);
    }
    return layout;
  }

 private:
  static constexpr int32_t max_cells = int32_t{1} << 30;

  static Result<IntVect> parse_line(std::istream& text, const std::string& key, int32_t least, int32_t most) {
    std::string found;
    IntVect v{0, 0, 0};
    if (!(text >> found >> v[0] >> v[1] >> v[2]) || found != key) {
      return corrupt(std::string(file_name) + " lacks a line \"" + key + "\" with three numbers");
    }
    for (const int32_t n : v) {
      if (n < least || n > most) {
        return corrupt(std::string(file_name) + ": " + key + " is " + std::to_string(n) + "; " +
                       std::to_string(least) + " to " + std::to_string(most) + " are allowed");
      }
    }
    return v;
  }
};

}  // namespace neve::amrex
