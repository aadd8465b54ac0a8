// SPDX-License-Identifier: BSD-3-Clause
// What a gather and a write take on a machine that is not at hand, from measured speeds of one core.
#pragma once

#include <cstdint>
#include <string>

namespace neve::mpibench {

// One rank on each node.
struct Machine {
  int nodes = 2;
  int cores = 1;                  // that encode, or decode, on each node
  double efficiency = 0.9;        // of several cores: speed of c cores / (c times that of one)
  double link = 25e9;             // bytes a second into or out of a node
  double latency_seconds = 2e-6;  // of a message
  double storage = 26.6e9;        // bytes a second of the file system, over all nodes
};

// Of one core: bytes of values a second.
struct Speeds {
  double encode = 0;
  double decode = 0;
  double ratio = 1;
};

struct Volume {
  double rank_bytes = 0;   // values of each rank
  double block_bytes = 0;  // of a block
};

struct Modelled {
  double plain_seconds = 0;  // values as they are
  double seconds = 0;        // as frames
  double bytes = 0;          // values that crossed
  std::string limit;         // what takes longest: encode, link, decode, storage

  double factor() const { return plain_seconds / seconds; }
};

// Root takes nodes - 1 ranks' values through its one link. Blocks are encoded, moved and decoded at the same
// time, so that the slowest of the three counts, and one block's way through the others. `decodes`: root
// wants values; otherwise it keeps the frames, to store or send on.
Modelled model_gather(const Machine& machine, const Speeds& speeds, const Volume& volume, bool decodes);

// Every rank writes its values to one file: through its own link, then the file system.
Modelled model_write(const Machine& machine, const Speeds& speeds, const Volume& volume);

// The fewest cores a node with which frames are `factor` times as fast; 0 when no number up to `most` does.
int cores_for(double factor, int most, Machine machine, const Speeds& speeds, const Volume& volume,
              bool gathers, bool decodes);

}  // namespace neve::mpibench
