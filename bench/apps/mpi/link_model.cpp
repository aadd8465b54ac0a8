// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mpi/link_model.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace neve::mpibench {
namespace {

double speed_of_cores(double one_core, const Machine& machine) {
  return machine.cores == 1 ? one_core : one_core * machine.cores * machine.efficiency;
}

// The longest of stages that run at the same time gives its name and time.
void overlap(Modelled& modelled, std::initializer_list<std::pair<const char*, double>> stages) {
  const auto longest = std::max_element(stages.begin(), stages.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  modelled.limit = longest->first;
  modelled.seconds += longest->second;
}

}  // namespace

Modelled model_gather(const Machine& machine, const Speeds& speeds, const Volume& volume, bool decodes) {
  Modelled modelled;
  modelled.bytes = (machine.nodes - 1) * volume.rank_bytes;
  modelled.plain_seconds = machine.latency_seconds + modelled.bytes / machine.link;
  // The first block on its way: one core each, nothing to overlap with yet.
  const double block = std::min(volume.block_bytes, volume.rank_bytes);
  modelled.seconds = machine.latency_seconds + block / speeds.encode + block / speeds.ratio / machine.link +
                     (decodes ? block / speeds.decode : 0);
  const double encode = volume.rank_bytes / speed_of_cores(speeds.encode, machine);
  const double move = modelled.bytes / speeds.ratio / machine.link;
  const double decode = decodes ? modelled.bytes / speed_of_cores(speeds.decode, machine) : 0;
  overlap(modelled, {{"encode", encode}, {"link", move}, {"decode", decode}});
  return modelled;
}

Modelled model_write(const Machine& machine, const Speeds& speeds, const Volume& volume) {
  Modelled modelled;
  modelled.bytes = machine.nodes * volume.rank_bytes;
  modelled.plain_seconds = std::max(volume.rank_bytes / machine.link, modelled.bytes / machine.storage);
  const double block = std::min(volume.block_bytes, volume.rank_bytes);
  modelled.seconds = block / speeds.encode;
  overlap(modelled, {{"encode", volume.rank_bytes / speed_of_cores(speeds.encode, machine)},
                     {"link", volume.rank_bytes / speeds.ratio / machine.link},
                     {"storage", modelled.bytes / speeds.ratio / machine.storage}});
  return modelled;
}

int cores_for(double factor, int most, Machine machine, const Speeds& speeds, const Volume& volume,
              bool gathers, bool decodes) {
  for (machine.cores = 1; machine.cores <= most; ++machine.cores) {
    const Modelled modelled =
        gathers ? model_gather(machine, speeds, volume, decodes) : model_write(machine, speeds, volume);
    if (modelled.factor() >= factor) return machine.cores;
  }
  return 0;
}

}  // namespace neve::mpibench
