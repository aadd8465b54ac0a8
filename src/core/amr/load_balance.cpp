// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/load_balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/amr/morton.hpp"
#include "core/math/portable_math.hpp"

namespace neve::amr {
namespace {

constexpr double given_load_steps = 1 << 30;
// Ranks that the most loaded one tries to trade with before it counts as stuck. The lightest come first; when
// those have nothing to offer, heavier ones seldom do.
constexpr size_t partners_tried = 64;
// Boxes of a rank up to which pairs of them are tried.
constexpr size_t max_paired = 24;

int64_t sum(std::span<const int64_t> loads) {
  int64_t total = 0;
  for (int64_t load : loads) total += load;
  return total;
}

// A box, or nothing (-1).
struct Part {
  size_t level = 0;
  int box = -1;
};
using Pair = std::array<Part, 2>;

// What changes hands between two ranks: `given` goes from the heavier to the lighter one, `taken` back.
struct Trade {
  Pair given, taken;
  int64_t transferred = 0;
};

// Boxes of one rank and level, by load and, among equal loads, in Morton order.
struct Holding {
  std::vector<int> boxes;
  int64_t load = 0;
};

class Exchange {
 public:
  Exchange(const Loads& loads, const std::vector<std::vector<int>>& place_in_order, int ranks, Owners& owners)
      : loads_(loads), place_(place_in_order), owners_(owners), ranks_(ranks), holdings_(loads.size()) {
    for (size_t level = 0; level < loads.size(); ++level) {
      holdings_[level].resize(static_cast<size_t>(ranks));
      for (size_t box = 0; box < loads[level].size(); ++box) {
        Holding& holding = holdings_[level][static_cast<size_t>(owners[level][box])];
        holding.boxes.push_back(static_cast<int>(box));
        holding.load += loads[level][box];
      }
      for (Holding& holding : holdings_[level]) {
        std::sort(holding.boxes.begin(), holding.boxes.end(),
                  [&](int a, int b) { return sort_key(level, a) < sort_key(level, b); });
      }
    }
  }

  // Balances the sum of levels first..last-1. With `keeps_levels` no level's own largest load may grow.
  void run(size_t first, size_t last, bool keeps_levels) {
    caps_.assign(loads_.size(), -1);
    std::set<std::pair<int64_t, int>> by_load;
    std::vector<int64_t> load(static_cast<size_t>(ranks_), 0);
    for (size_t level = first; level < last; ++level) {
      for (int rank = 0; rank < ranks_; ++rank) {
        const int64_t of_level = holdings_[level][static_cast<size_t>(rank)].load;
        load[static_cast<size_t>(rank)] += of_level;
        if (keeps_levels) caps_[level] = std::max(caps_[level], of_level);
      }
    }
    for (int rank = 0; rank < ranks_; ++rank) by_load.emplace(load[static_cast<size_t>(rank)], rank);

    // Each trade makes the squares of the loads sum to less, so this ends.
    while (true) {
      const int64_t heaviest = by_load.rbegin()->first;
      const int giver = by_load.rbegin()->second;
      const auto others = partners(by_load, giver);
      std::optional<Trade> trade;
      int partner = -1;
      const auto try_with = [&](auto&& find) {
        for (const auto& [lighter, rank] : others) {
          if (heaviest - lighter < 2) return;
          trade = (this->*find)(first, last, giver, rank, heaviest - lighter);
          partner = rank;
          if (trade) return;
        }
      };
      try_with(&Exchange::best_trade);
      if (!trade) try_with(&Exchange::pair_trade);
      if (!trade) return;
      for (int rank : {giver, partner}) by_load.erase({load[static_cast<size_t>(rank)], rank});
      carry_out(*trade, giver, partner);
      load[static_cast<size_t>(giver)] -= trade->transferred;
      load[static_cast<size_t>(partner)] += trade->transferred;
      for (int rank : {giver, partner}) by_load.emplace(load[static_cast<size_t>(rank)], rank);
    }
  }

 private:
  using ByLoad = std::set<std::pair<int64_t, int>>;

  int64_t load_of(const Part& part) const {
    return part.box < 0 ? 0 : loads_[part.level][static_cast<size_t>(part.box)];
  }

  std::pair<int64_t, int> sort_key(size_t level, int box) const {
    return {loads_[level][static_cast<size_t>(box)], place_[level][static_cast<size_t>(box)]};
  }

  // Lightest first; of the very lightest the nearest in number first, since its boxes lie nearest.
  std::vector<std::pair<int64_t, int>> partners(const ByLoad& by_load, int giver) const {
    std::vector<std::pair<int64_t, int>> result;
    const int64_t lightest = by_load.begin()->first;
    const auto above = by_load.lower_bound({lightest, giver});
    const auto consider = [&](ByLoad::const_iterator at) {
      if (at->first == lightest && at->second != giver) result.push_back(*at);
    };
    if (above != by_load.end()) consider(above);
    if (above != by_load.begin()) consider(std::prev(above));
    std::sort(result.begin(), result.end(), [&](const auto& a, const auto& b) {
      return std::abs(a.second - giver) < std::abs(b.second - giver);
    });
    for (const auto& entry : by_load) {
      if (result.size() >= partners_tried) break;
      if (entry.second != giver) result.push_back(entry);
    }
    return result;
  }

  // The trade that brings the two closest to each other, or none that brings them closer at all.
  std::optional<Trade> best_trade(size_t first, size_t last, int giver, int taker, int64_t gap) const {
    std::optional<Trade> best;
    int64_t best_rest = gap;  // the gap that remains
    const auto consider = [&](const Part& given, const Part& taken) {
      const int64_t transferred = load_of(given) - load_of(taken);
      if (transferred <= 0 || transferred >= gap) return;
      const int64_t rest = std::abs(gap - 2 * transferred);
      if (rest >= best_rest) return;
      best_rest = rest;
      best = Trade{{given, Part{}}, {taken, Part{}}, transferred};
    };
    // Half the gap is what one would like to hand over. Looked at are the boxes on both sides of that and,
    // where the taker has no room for so much, the largest that fits.
    const auto consider_return = [&](const Part& taken) {
      const int64_t returned = load_of(taken);
      for (size_t level = first; level < last; ++level) {
        const bool same_level = level == taken.level;
        // Within a level the giver ends up with less, whatever it takes back.
        if (!same_level && returned > room_of(taken.level, giver)) continue;
        const Holding& from = holdings_[level][static_cast<size_t>(giver)];
        const int64_t room = room_of(level, taker) + (same_level ? returned : 0);
        for (int64_t wished : {returned + gap / 2, std::min(returned + gap / 2, room)}) {
          for (int box : nearest(level, from, wished, taker > giver)) {
            const Part given{level, box};
            if (load_of(given) <= room) consider(given, taken);
          }
        }
      }
    };
    consider_return({first, -1});
    for (size_t level = first; level < last; ++level) {
      for (int box : holdings_[level][static_cast<size_t>(taker)].boxes) consider_return({level, box});
    }
    return best;
  }

  // Up to two boxes for up to two: finds the way out where few boxes of few sizes leave single ones no trade.
  // The first that helps.
  std::optional<Trade> pair_trade(size_t first, size_t last, int giver, int taker, int64_t gap) const {
    const std::vector<Pair> gifts = pairs_of(first, last, giver), returns = pairs_of(first, last, taker);
    for (const Pair& given : gifts) {
      for (const Pair& taken : returns) {
        const int64_t transferred =
            load_of(given[0]) + load_of(given[1]) - load_of(taken[0]) - load_of(taken[1]);
        if (transferred <= 0 || transferred >= gap) continue;
        if (fits(given, taken, taker) && fits(taken, given, giver)) return Trade{given, taken, transferred};
      }
    }
    return {};
  }

  // All sets of none, one or two boxes of a rank; none where they are too many.
  std::vector<Pair> pairs_of(size_t first, size_t last, int rank) const {
    std::vector<Part> parts{Part{}};
    for (size_t level = first; level < last; ++level) {
      for (int box : holdings_[level][static_cast<size_t>(rank)].boxes) parts.push_back({level, box});
      if (parts.size() > max_paired) return {};
    }
    std::vector<Pair> pairs{{Part{}, Part{}}};
    for (size_t i = 0; i < parts.size(); ++i) {
      for (size_t j = i + 1; j < parts.size(); ++j) pairs.push_back({parts[i], parts[j]});
    }
    return pairs;
  }

  // Whether no level of `rank` exceeds what it may hold once `in` has come and `out` gone.
  bool fits(const Pair& in, const Pair& out, int rank) const {
    for (const Part& arriving : in) {
      if (arriving.box < 0) continue;
      int64_t change = 0;
      for (const Part& part : in) change += part.level == arriving.level ? load_of(part) : 0;
      for (const Part& part : out) change -= part.level == arriving.level ? load_of(part) : 0;
      if (change > room_of(arriving.level, rank)) return false;
    }
    return true;
  }

  int64_t room_of(size_t level, int rank) const {
    if (caps_[level] < 0) return std::numeric_limits<int64_t>::max() / 2;
    return caps_[level] - holdings_[level][static_cast<size_t>(rank)].load;
  }

  // The boxes of the loads just below (or equal to) and just above `load`; of equal boxes the one at the end
  // of the run that lies towards the other rank.
  std::vector<int> nearest(size_t level, const Holding& holding, int64_t load, bool towards_end) const {
    const auto load_of = [&](int box) { return this->load_of({level, box}); };
    const auto first_above = std::partition_point(holding.boxes.begin(), holding.boxes.end(),
                                                  [&](int box) { return load_of(box) <= load; });
    std::vector<int> result;
    const auto add_group_of = [&](int box) {
      const auto begin = std::partition_point(holding.boxes.begin(), holding.boxes.end(),
                                              [&](int other) { return load_of(other) < load_of(box); });
      const auto end = std::partition_point(begin, holding.boxes.end(),
                                            [&](int other) { return load_of(other) <= load_of(box); });
      result.push_back(towards_end ? *std::prev(end) : *begin);
    };
    if (first_above != holding.boxes.begin()) add_group_of(*std::prev(first_above));
    if (first_above != holding.boxes.end()) add_group_of(*first_above);
    return result;
  }

  void carry_out(const Trade& trade, int giver, int taker) {
    for (const Part& part : trade.given) {
      if (part.box >= 0) move(part.level, part.box, giver, taker);
    }
    for (const Part& part : trade.taken) {
      if (part.box >= 0) move(part.level, part.box, taker, giver);
    }
  }

  void move(size_t level, int box, int from, int to) {
    const auto place_of = [&](Holding& holding) {
      return std::lower_bound(holding.boxes.begin(), holding.boxes.end(), sort_key(level, box),
                              [&](int other, const auto& key) { return sort_key(level, other) < key; });
    };
    Holding& giver = holdings_[level][static_cast<size_t>(from)];
    Holding& taker = holdings_[level][static_cast<size_t>(to)];
    giver.boxes.erase(place_of(giver));
    taker.boxes.insert(place_of(taker), box);
    const int64_t load = loads_[level][static_cast<size_t>(box)];
    giver.load -= load;
    taker.load += load;
    owners_[level][static_cast<size_t>(box)] = to;
  }

  const Loads& loads_;
  const std::vector<std::vector<int>>& place_;
  Owners& owners_;
  int ranks_;
  std::vector<std::vector<Holding>> holdings_;  // [level][rank]
  std::vector<int64_t> caps_;                   // by level: most a rank may take to; -1: anything
};

}  // namespace

Loads cell_loads(const Hierarchy& hierarchy) {
  Loads loads;
  for (const Level& level : hierarchy.levels) {
    std::vector<int64_t>& of_level = loads.emplace_back();
    of_level.reserve(level.boxes.size());
    for (const Box& box : level.boxes) of_level.push_back(box.cells());
  }
  return loads;
}

Result<Loads> whole_loads(const Hierarchy& hierarchy, std::span<const std::vector<double>> given) {
  if (given.size() != hierarchy.levels.size()) {
    return usage_error(fmt::format("loads are given for {} levels; the hierarchy has {}", given.size(),
                                   hierarchy.levels.size()));
  }
  double largest = 0;
  for (size_t level = 0; level < given.size(); ++level) {
    const size_t boxes = hierarchy.levels[level].boxes.size();
    if (given[level].size() != boxes) {
      return usage_error(
          fmt::format("level {} has {} loads for {} boxes", level, given[level].size(), boxes));
    }
    for (size_t box = 0; box < boxes; ++box) {
      const double load = given[level][box];
      if (!std::isfinite(load) || load < 0) {
        return usage_error(fmt::format("load of box {} of level {} is {}; it must be finite and at least 0",
                                       box, level, load));
      }
      largest = std::max(largest, load);
    }
  }
  Loads loads;
  for (const std::vector<double>& of_level : given) {
    std::vector<int64_t>& whole = loads.emplace_back();
    for (double load : of_level) {
      whole.push_back(largest > 0 ? static_cast<int64_t>(math::floor(load / largest * given_load_steps + 0.5))
                                  : 0);
    }
  }
  return loads;
}

std::vector<int> even_runs(std::span<const int> order, std::span<const int64_t> loads, int ranks) {
  const int64_t total = sum(loads);
  // Where rank r's share ends. Split so that no product exceeds 64 bits.
  const auto end_of = [&](int rank) {
    return total / ranks * (rank + 1) + total % ranks * (rank + 1) / ranks;
  };
  std::vector<int> owner(loads.size(), 0);
  int64_t before = 0;
  int rank = 0;
  for (int i : order) {
    const int64_t load = loads[static_cast<size_t>(i)];
    while (rank < ranks - 1 && before + load / 2 >= end_of(rank)) ++rank;
    owner[static_cast<size_t>(i)] = rank;
    before += load;
  }
  return owner;
}

// Chombo 3.2, LoadBalance.cpp.
std::vector<int> greedy_runs(std::span<const int> order, std::span<const int64_t> loads, int ranks) {
  const auto boxes = static_cast<int64_t>(order.size());
  std::vector<int> owner(loads.size(), 0);
  if (boxes <= ranks) {
    for (size_t i = 0; i < owner.size(); ++i) owner[i] = static_cast<int>(i);
    return owner;
  }
  double left = static_cast<double>(sum(loads));
  double goal = left / ranks;
  double filled = 0;     // of the current bin
  bool has_box = false;  // the current bin
  bool one_each = false;
  int rank = 0;
  for (int64_t i = 0; i < boxes; ++i) {
    const int box = order[static_cast<size_t>(i)];
    const auto load = static_cast<double>(loads[static_cast<size_t>(box)]);
    int& to = owner[static_cast<size_t>(box)];
    // From here on every box opens a bin, so that none stays empty.
    if (boxes - i <= ranks - rank) one_each = true;
    if (one_each) {
      rank = std::min(rank, ranks - 1);
      to = rank++;
      continue;
    }
    if (rank == ranks - 1) {
      to = rank;
      continue;
    }
    filled += load;
    if (filled < goal) {
      to = rank;
      has_box = true;
      continue;
    }
    // The bin is full with this box, or, where more than half of the box is too much, was without it.
    const bool opens_next = filled - goal > 0.5 * load && has_box;
    left -= opens_next ? filled - load : filled;
    goal = left / (ranks - (rank + 1));
    to = opens_next ? rank + 1 : rank;
    ++rank;
    filled = opens_next ? load : 0;
    has_box = opens_next;
  }
  return owner;
}

void exchange_boxes(const Loads& loads, std::span<const std::vector<int>> orders, int ranks, Owners& owners) {
  std::vector<std::vector<int>> place(loads.size());
  for (size_t level = 0; level < loads.size(); ++level) {
    place[level].resize(loads[level].size());
    for (size_t i = 0; i < orders[level].size(); ++i) {
      place[level][static_cast<size_t>(orders[level][i])] = static_cast<int>(i);
    }
  }
  const Owners before = owners;
  {
    Exchange exchange(loads, place, ranks, owners);
    for (size_t level = 0; level < loads.size(); ++level) exchange.run(level, level + 1, false);
    if (loads.size() == 1) return;
    exchange.run(0, loads.size(), true);
  }
  // Evener levels may by chance add up to a more uneven sum.
  if (balance_of_all(loads, owners, ranks).largest <= balance_of_all(loads, before, ranks).largest) return;
  owners = before;
  Exchange(loads, place, ranks, owners).run(0, loads.size(), true);
}

Balance balance_of_level(std::span<const int64_t> loads, std::span<const int> owners, int ranks) {
  std::vector<int64_t> of_rank(static_cast<size_t>(ranks), 0);
  for (size_t box = 0; box < loads.size(); ++box) of_rank[static_cast<size_t>(owners[box])] += loads[box];
  return {*std::max_element(of_rank.begin(), of_rank.end()), static_cast<double>(sum(loads)) / ranks};
}

Balance balance_of_all(const Loads& loads, const Owners& owners, int ranks) {
  std::vector<int64_t> all_loads;
  std::vector<int> all_owners;
  for (size_t level = 0; level < loads.size(); ++level) {
    all_loads.insert(all_loads.end(), loads[level].begin(), loads[level].end());
    all_owners.insert(all_owners.end(), owners[level].begin(), owners[level].end());
  }
  return balance_of_level(all_loads, all_owners, ranks);
}

Owners share_boxes(const Hierarchy& hierarchy, int ranks, const Loads& loads, DistributionMethod method) {
  std::vector<std::vector<int>> orders;
  Owners owners;
  for (size_t l = 0; l < loads.size(); ++l) {
    const Level& level = hierarchy.levels[l];
    if (method == DistributionMethod::even_runs) {
      orders.push_back(morton_order(level.boxes));
      owners.push_back(even_runs(orders[l], loads[l], ranks));
    } else {
      orders.push_back(morton_order(level.boxes, level.domain.lo));
      owners.push_back(greedy_runs(orders[l], loads[l], ranks));
    }
  }
  if (method == DistributionMethod::chombo) exchange_boxes(loads, orders, ranks, owners);
  return owners;
}

}  // namespace neve::amr
