// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/part_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "preload/trace/part.hpp"
#include "preload/trace/part_v1.hpp"

namespace neve::trace {
namespace {

struct Current {
  using Header = PartHeader;
  using File = PartFile;
  using Phase = PartPhase;
};
struct First {
  using Header = v1::PartHeader;
  using File = v1::PartFile;
  using Phase = v1::PartPhase;
};

template <class Layout>
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Status read(Trace& trace) {
    typename Layout::Header header;
    NEVE_TRY(get(0, header));
    if (header.used_bytes > bytes_.size()) {
      return corrupt("the part says it has " + std::to_string(header.used_bytes) + " bytes, the file has " +
                     std::to_string(bytes_.size()));
    }
    bytes_ = bytes_.first(header.used_bytes);
    // What is read is paid for: lists that run in a circle or share their bytes end here. Only the names of
    // phases are shared in a part as it should be, and each is smaller than what names it.
    left_ = 2 * header.used_bytes;

    Process process;
    process.id = header.process_id;
    process.start = header.process_start;
    process.end = header.last_event;
    process.rank = header.rank;
    process.ranks = header.ranks;
    NEVE_TRY(name(header.host, process.host));
    NEVE_TRY(name(header.program, process.program));
    if constexpr (requires { header.heatmap; }) {
      NEVE_TRY(read_heatmap(header.heatmap, process.heatmap));
      NEVE_TRY(read_overflow(header.overflow, process.overflow, trace.overflow));
    }
    trace.processes.push_back(process);
    trace.dropped_calls = header.dropped_calls;
    trace.dropped_bytes = header.dropped_bytes;
    trace.reentrant_calls = header.reentrant_calls;
    trace.phases_beyond = header.phases_beyond;
    trace.writable_maps = header.writable_maps;

    for (uint32_t at = header.files; at != 0;) {
      typename Layout::File file;
      NEVE_TRY(member(at, file));
      NEVE_TRY(read_file(file, trace));
      at = file.next;
    }
    return {};
  }

 private:
  static Status corrupt(const std::string& what) { return Status(Code::corrupt, "trace part: " + what); }

  template <class T>
  Status get(uint64_t at, T& value) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) {
      return corrupt("offset " + std::to_string(at) + " lies outside its " + std::to_string(bytes_.size()) +
                     " bytes");
    }
    std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return {};
  }

  Status pay(uint64_t bytes) {
    if (bytes > left_) return corrupt("a list has no end, or names and lists overlap");
    left_ -= bytes;
    return {};
  }

  template <class T>
  Status member(uint64_t at, T& value) {
    NEVE_TRY(pay(sizeof(T)));
    return get(at, value);
  }

  Status name(uint32_t at, std::string& text) {
    text.clear();
    if (at == 0) return {};
    PartName head;
    NEVE_TRY(get(at, head));
    if (bytes_.size() - at - sizeof head < head.length) return corrupt("a name runs out of the part");
    NEVE_TRY(pay(head.length));
    text.assign(reinterpret_cast<const char*>(bytes_.data() + at + sizeof head), head.length);
    return {};
  }

  Status read_accesses(const PartAccesses& part, Accesses& accesses) {
    for (size_t bin = 0; bin < bin_count; ++bin) accesses.bins[bin] = part.bins[bin];
    accesses.overflow_calls = part.overflow_calls;
    accesses.overflow_bytes = part.overflow_bytes;
    if (part.map == 0) return {};
    if (part.map > bytes_.size() || part.map_capacity > (bytes_.size() - part.map) / sizeof(PartSize)) {
      return corrupt("a map of sizes runs out of the part");
    }
    NEVE_TRY(pay(uint64_t{part.map_capacity} * sizeof(PartSize)));
    for (uint32_t i = 0; i < part.map_capacity; ++i) {
      PartSize size;
      NEVE_TRY(get(part.map + uint64_t{i} * sizeof size, size));
      if (size.count != 0) accesses.sizes[size.bytes] += size.count;
    }
    return {};
  }

  Status read_heatmap(uint32_t at, Heatmap& heatmap) {
    if (at == 0) return {};
    PartHeatmap part;
    NEVE_TRY(member(at, part));
    // A process may have been killed before the width was written.
    if (!Heatmap::is_width(part.bin_seconds)) return corrupt("its heatmap has bins of no width");
    heatmap.bin_seconds = part.bin_seconds;
    for (size_t level = 0; level < level_count; ++level) {
      for (size_t d = 0; d < direction_count; ++d) {
        const auto& bins = part.bytes[level][d];
        heatmap.bytes[level][d].assign(std::begin(bins), std::end(bins));
      }
    }
    heatmap.cut_zeros();
    return {};
  }

  Status read_overflow(uint32_t at, Share& share, Counters& overflow) {
    if (at == 0) return {};
    typename Layout::File file;
    NEVE_TRY(member(at, file));
    File all;
    NEVE_TRY(read_phases(file.phases, all, share));
    overflow.merge(all.total());
    return {};
  }

  Status read_renames(uint32_t first, File& file) {
    for (uint32_t at = first; at != 0;) {
      std::string renamed;
      if constexpr (std::is_same_v<Layout, First>) {
        PartName head;
        NEVE_TRY(member(at, head));
        NEVE_TRY(name(at, renamed));
        at = head.next;
      } else {
        PartRename rename;
        NEVE_TRY(member(at, rename));
        NEVE_TRY(name(rename.name, renamed));
        at = rename.next;
      }
      file.renamed_to.push_back(renamed);
    }
    return {};
  }

  Status read_phases(uint32_t first, File& file, Share& share) {
    for (uint32_t at = first; at != 0;) {
      typename Layout::Phase phase;
      NEVE_TRY(member(at, phase));
      std::string phase_name;
      NEVE_TRY(name(phase.name, phase_name));
      Counters counters;
      std::memcpy(counters.values.data(), phase.counters, sizeof phase.counters);
      for (size_t level = 0; level < level_count; ++level) {
        std::memcpy(counters.times[level].data(), phase.times[level], sizeof phase.times[level]);
        for (size_t d = 0; d < direction_count; ++d) {
          NEVE_TRY(read_accesses(phase.accesses[level][d], counters.accesses[level][d]));
          share.calls[level][d] += counters.accesses[level][d].calls();
          share.seconds[level][d] += counters.times[level][d == 0 ? READ_TIME : WRITE_TIME];
        }
      }
      const auto bytes = [&](Counter c) { return static_cast<uint64_t>(counters.values[c]); };
      share.bytes[0][0] += bytes(MPIIO_BYTES_READ), share.bytes[0][1] += bytes(MPIIO_BYTES_WRITTEN);
      share.bytes[1][0] += bytes(POSIX_BYTES_READ), share.bytes[1][1] += bytes(POSIX_BYTES_WRITTEN);
      share.bytes[2][0] += bytes(STDIO_BYTES_READ), share.bytes[2][1] += bytes(STDIO_BYTES_WRITTEN);
      file.phases[phase_name].merge(counters);
      at = phase.next;
    }
    return {};
  }

  Status read_file(const typename Layout::File& part, Trace& trace) {
    std::string path;
    NEVE_TRY(name(part.path, path));
    File& file = trace.files[path];
    NEVE_TRY(read_renames(part.renamed, file));
    if constexpr (requires { part.explained_end; }) {
      FileSize size;
      if (part.opened > 0) size.at_open = std::max<int64_t>(part.size_at_open, 0), size.opened = part.opened;
      if (part.closed > 0)
        size.at_close = std::max<int64_t>(part.size_at_close, 0), size.closed = part.closed;
      size.explained_end = part.explained_end;
      size.appended_bytes = part.appended_bytes;
      if (part.number != 0) size.inode = std::to_string(part.device) + ":" + std::to_string(part.number);
      file.size.merge(size);
    }
    return read_phases(part.phases, file, file.shares[0]);
  }

  std::span<const std::byte> bytes_;
  uint64_t left_ = 0;  // bytes that may still be read
};

}  // namespace

Result<Trace> read_part(std::span<const std::byte> part) {
  uint64_t magic = 0;
  if (part.size() >= sizeof magic) std::memcpy(&magic, part.data(), sizeof magic);
  if (magic != part_magic && magic != v1::part_magic) {
    return Status(Code::corrupt, "trace part: it does not begin as a part of a trace does");
  }
  Trace trace;
  NEVE_TRY(magic == part_magic ? Reader<Current>(part).read(trace) : Reader<First>(part).read(trace));
  return trace;
}

Result<Trace> read_part_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failure(path + ": " + std::strerror(errno));
  struct stat status;
  void* bytes = MAP_FAILED;
  size_t length = 0;
  if (fstat(fd, &status) == 0 && status.st_size > 0) {
    length = static_cast<size_t>(status.st_size);
    bytes = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  if (bytes == MAP_FAILED) return failure(path + ": cannot be read, or is empty");
  auto trace = read_part({static_cast<const std::byte*>(bytes), length});
  munmap(bytes, length);
  if (!trace.ok()) return Status(trace.status().code(), path + ": " + trace.status().message());
  return trace;
}

}  // namespace neve::trace
