// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/model.hpp"

#include <algorithm>

namespace neve::trace {
namespace {

void merge_time(double& mine, double other, TimeRule rule) {
  if (other == 0) return;
  switch (rule) {
    case TimeRule::earliest:
      mine = mine == 0 ? other : std::min(mine, other);
      break;
    case TimeRule::latest:
    case TimeRule::max:
      mine = std::max(mine, other);
      break;
    case TimeRule::sum:
      mine += other;
      break;
  }
}

}  // namespace

void Accesses::merge(const Accesses& other) {
  for (size_t bin = 0; bin < bin_count; ++bin) bins[bin] += other.bins[bin];
  for (const auto& [bytes, count] : other.sizes) sizes[bytes] += count;
  overflow_calls += other.overflow_calls;
  overflow_bytes += other.overflow_bytes;
}

uint64_t Accesses::calls() const {
  uint64_t sum = 0;
  for (const uint64_t count : bins) sum += count;
  return sum;
}

void Counters::merge(const Counters& other) {
  for (size_t c = 0; c < counter_count; ++c) {
    // As unsigned numbers, whose sum is defined whatever a damaged part says.
    values[c] =
        counter_infos[c].rule == Rule::max
            ? std::max(values[c], other.values[c])
            : static_cast<int64_t>(static_cast<uint64_t>(values[c]) + static_cast<uint64_t>(other.values[c]));
  }
  for (size_t level = 0; level < level_count; ++level) {
    for (size_t t = 0; t < time_count; ++t) {
      merge_time(times[level][t], other.times[level][t], time_infos[t].rule);
    }
    for (size_t d = 0; d < direction_count; ++d) accesses[level][d].merge(other.accesses[level][d]);
  }
}

bool Counters::touched(Level level) const {
  for (size_t c = 0; c < counter_count; ++c) {
    if (counter_infos[c].level == level && values[c] != 0) return true;
  }
  return times[static_cast<size_t>(level)][META_TIME] != 0;
}

std::vector<std::pair<uint64_t, uint64_t>> top_sizes(const std::vector<const Accesses*>& of,
                                                     size_t how_many) {
  std::map<uint64_t, uint64_t> together;
  for (const Accesses* accesses : of) {
    for (const auto& [bytes, count] : accesses->sizes) {
      if (bytes > 0) together[bytes] += count;
    }
  }
  std::vector<std::pair<uint64_t, uint64_t>> top(together.begin(), together.end());
  std::stable_sort(top.begin(), top.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first > b.first;
  });
  top.resize(std::min(top.size(), how_many));
  return top;
}

void Share::merge(const Share& other) {
  for (size_t level = 0; level < level_count; ++level) {
    for (size_t d = 0; d < direction_count; ++d) {
      calls[level][d] += other.calls[level][d];
      bytes[level][d] += other.bytes[level][d];
      seconds[level][d] += other.seconds[level][d];
    }
  }
}

bool Share::is_empty() const { return calls == Share().calls && bytes == Share().bytes; }

void FileSize::merge(const FileSize& other) {
  if (other.at_open >= 0 && (at_open < 0 || other.opened < opened)) {
    at_open = other.at_open;
    opened = other.opened;
  }
  if (other.at_close >= 0 && (at_close < 0 || other.closed > closed)) {
    at_close = other.at_close;
    closed = other.closed;
  }
  explained_end = std::max(explained_end, other.explained_end);
  appended_bytes += other.appended_bytes;
  if (inode.empty()) inode = other.inode;
}

uint64_t FileSize::unexplained_bytes() const {
  if (at_open < 0 || at_close < 0) return 0;
  const auto end_of_appends = static_cast<uint64_t>(at_open) + appended_bytes;
  const uint64_t explained =
      std::max(static_cast<uint64_t>(std::max<int64_t>(explained_end, 0)), end_of_appends);
  const auto found = static_cast<uint64_t>(at_close);
  return found > explained ? found - explained : 0;
}

bool Heatmap::is_width(double seconds) {
  constexpr int most_doublings = 40;  // some thousands of years
  double width = first_bin_seconds;
  for (int i = 0; i < most_doublings && width < seconds; ++i) width *= 2;
  return width == seconds;
}

bool Heatmap::is_empty() const {
  for (const auto& level : bytes) {
    for (const auto& bins : level) {
      if (!bins.empty()) return false;
    }
  }
  return true;
}

void Heatmap::cut_zeros() {
  for (auto& level : bytes) {
    for (auto& bins : level) {
      while (!bins.empty() && bins.back() == 0) bins.pop_back();
    }
  }
}

void Heatmap::widen_to(double seconds) {
  while (bin_seconds < seconds) {
    for (auto& level : bytes) {
      for (auto& bins : level) {
        for (size_t i = 0; i < bins.size(); ++i) {
          const uint64_t moved = bins[i];
          bins[i] = 0;
          bins[i / 2] += moved;
        }
      }
    }
    cut_zeros();
    bin_seconds *= 2;
  }
}

void Heatmap::merge(const Heatmap& other) {
  Heatmap theirs = other;
  theirs.widen_to(bin_seconds);
  widen_to(theirs.bin_seconds);
  for (size_t level = 0; level < level_count; ++level) {
    for (size_t d = 0; d < direction_count; ++d) {
      auto& mine = bytes[level][d];
      const auto& more = theirs.bytes[level][d];
      mine.resize(std::max(mine.size(), more.size()));
      for (size_t i = 0; i < more.size(); ++i) mine[i] += more[i];
    }
  }
}

Counters File::total() const {
  Counters sum;
  for (const auto& [name, counters] : phases) sum.merge(counters);
  return sum;
}

double Trace::start() const {
  double first = 0;
  for (const Process& process : processes) {
    if (first == 0 || process.start < first) first = process.start;
  }
  return first;
}

double Trace::end() const {
  double last = 0;
  for (const Process& process : processes) last = std::max(last, process.end);
  return last;
}

void Trace::merge(const Trace& other) {
  if (command.empty()) command = other.command;
  std::map<std::pair<uint64_t, std::string>, std::vector<int>> known;
  for (size_t p = 0; p < processes.size(); ++p) {
    known[{processes[p].id, processes[p].host}].push_back(static_cast<int>(p));
  }
  std::vector<int> mine;  // index here of each of the other's processes
  for (const Process& process : other.processes) {
    int at = -1;
    for (const int p : known[{process.id, process.host}]) {
      if (processes[static_cast<size_t>(p)].same_as(process)) at = p;
    }
    if (at < 0) {
      at = static_cast<int>(processes.size());
      processes.push_back(process);
      known[{process.id, process.host}].push_back(at);
    } else {
      Process& same = processes[static_cast<size_t>(at)];
      same.end = std::max(same.end, process.end);
      if (same.rank < 0) same.rank = process.rank, same.ranks = process.ranks;
      same.heatmap.merge(process.heatmap);
      same.overflow.merge(process.overflow);
    }
    mine.push_back(at);
  }
  for (const auto& [path, file] : other.files) {
    File& here = files[path];
    for (const std::string& name : file.renamed_to) {
      if (std::find(here.renamed_to.begin(), here.renamed_to.end(), name) == here.renamed_to.end()) {
        here.renamed_to.push_back(name);
      }
    }
    for (const auto& [name, counters] : file.phases) here.phases[name].merge(counters);
    here.size.merge(file.size);
    for (const auto& [process, share] : file.shares) {
      here.shares[mine[static_cast<size_t>(process)]].merge(share);
    }
  }
  double widest = first_bin_seconds;
  for (const Process& process : processes) widest = std::max(widest, process.heatmap.bin_seconds);
  for (Process& process : processes) process.heatmap.widen_to(widest);
  overflow.merge(other.overflow);
  dropped_calls += other.dropped_calls;
  dropped_bytes += other.dropped_bytes;
  reentrant_calls += other.reentrant_calls;
  phases_beyond += other.phases_beyond;
  writable_maps += other.writable_maps;
  unreadable_parts += other.unreadable_parts;
}

std::map<std::string, uint64_t> Trace::unexplained_bytes() const {
  std::map<std::string, FileSize> by_inode;
  for (const auto& [path, file] : files) {
    if (!file.size.inode.empty()) by_inode[file.size.inode].merge(file.size);
  }
  std::map<std::string, uint64_t> found;
  for (const auto& [path, file] : files) {
    uint64_t bytes = file.size.unexplained_bytes();
    if (bytes == 0) continue;
    if (const auto names = by_inode.find(file.size.inode); names != by_inode.end()) {
      bytes = names->second.unexplained_bytes();
      names->second = {};  // told under one of them
    }
    if (bytes > 0) found[path] = bytes;
  }
  return found;
}

double write_amplification(const Counters& counters) {
  const auto handed = counters.values[MPIIO_BYTES_WRITTEN];
  return handed > 0 ? static_cast<double>(counters.values[POSIX_BYTES_WRITTEN]) / static_cast<double>(handed)
                    : 0;
}

}  // namespace neve::trace
