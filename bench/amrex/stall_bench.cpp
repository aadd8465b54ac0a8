// SPDX-License-Identifier: BSD-3-Clause
// How long a step of an AMReX code waits for its plotfile: Neve's, by each way of WriteOptions::behind, or
// AMReX's own. JSON on stdout, of rank 0.
//
//   mpirun -n 2 neve_bench_stall PLOTFILE FOLDER WAY REPLICAS STEPS PAUSE_MS BOUND [amrex.async_out=1]
//
// WAY: native (one file a rank, then everything fsynced), async (native behind the run's back, with
// amrex.async_out=1), hdf5 (AMReX's own HDF5 plotfile, uncompressed, then fsynced; where AMReX has it), none,
// encode, copy. The plotfile is read once and repeated REPLICAS times along x. The ranks sleep PAUSE_MS
// between the steps; what is behind goes on meanwhile. The first step is not counted.
#include <AMReX_AsyncOut.H>
#include <AMReX_ParmParse.H>
#include <AMReX_VisMF.H>
#ifdef AMREX_USE_HDF5
#include <AMReX_PlotFileUtilHDF5.H>
#endif
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/harness/median.hpp"
#include "bench/io/must.hpp"
#include "bench/io/process_memory.hpp"
#include "io/files/write.hpp"
#include "neve/amrex.hpp"
#include "neve/plotfile_reader.hpp"

namespace {

namespace fs = std::filesystem;
using amrex::MultiFab;
using amrex::Real;
using neve::bench::must;
using neve::bench::number_argument;
using neve::bench::process_memory_bytes;
using neve::bench::reset_peak_memory;
using neve::bench::stop;

amrex::Box box_of(const neve::Box& box, int shift) {
  amrex::Box made(amrex::IntVect(box.lo[0], box.lo[1], box.lo[2]),
                  amrex::IntVect(box.hi[0], box.hi[1], box.hi[2]));
  return made.shift(0, shift);
}

// The mesh and values of a step.
struct Step {
  amrex::Vector<amrex::Geometry> geom;
  amrex::Vector<MultiFab> levels;
  amrex::Vector<std::string> names;
  amrex::Vector<int> numbers;
  amrex::Vector<amrex::IntVect> ratios;

  amrex::Vector<const MultiFab*> pointers() const {
    amrex::Vector<const MultiFab*> all;
    for (const MultiFab& level : levels) all.push_back(&level);
    return all;
  }
  double bytes() const {
    double all = 0;
    for (const MultiFab& level : levels)
      all += static_cast<double>(level.boxArray().numPts()) * level.nComp() * sizeof(Real);
    return all;
  }
};

void read_level(neve::PlotfileSource& source, int level, MultiFab& mf) {
  const neve::Hierarchy& h = source.hierarchy();
  const auto originals = static_cast<int>(h.levels[static_cast<size_t>(level)].boxes.size());
  std::vector<std::byte> bytes;
  for (amrex::MFIter it(mf); it.isValid(); ++it) {
    amrex::FArrayBox& fab = mf[it];
    const auto cells = static_cast<size_t>(fab.box().numPts());
    bytes.resize(cells * neve::dtype_bytes(h.dtype));
    for (int c = 0; c < mf.nComp(); ++c) {
      must(source.read_box(level, it.index() % originals, c, bytes.data()));
      Real* const to = fab.dataPtr(c);
      if (h.dtype == neve::DType::f64) {
        std::copy_n(reinterpret_cast<const double*>(bytes.data()), cells, to);
      } else {
        std::copy_n(reinterpret_cast<const float*>(bytes.data()), cells, to);
      }
    }
  }
}

Step read_step(const std::string& path, int replicas) {
  const auto source = must(neve::open_plotfile(path));
  const neve::Hierarchy& h = source->hierarchy();
  Step step;
  for (const std::string& name : h.components) step.names.push_back(name);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const neve::Level& level = h.levels[l];
    const auto width = static_cast<int>(level.domain.size(0));
    amrex::BoxList boxes;
    for (int copy = 0; copy < replicas; ++copy) {
      for (const neve::Box& box : level.boxes) boxes.push_back(box_of(box, copy * width));
    }
    amrex::Box domain = box_of(level.domain, 0);
    domain.growHi(0, (replicas - 1) * width);
    const amrex::RealBox real({0, 0, 0}, {static_cast<Real>(replicas), 1, 1});
    step.geom.emplace_back(domain, real, 0, amrex::Array<int, 3>{0, 0, 0});
    const amrex::BoxArray array(std::move(boxes));
    MultiFab& mf = step.levels.emplace_back(array, amrex::DistributionMapping(array),
                                            static_cast<int>(step.names.size()), 0);
    read_level(*source, static_cast<int>(l), mf);
    step.numbers.push_back(0);
    if (l + 1 < h.levels.size()) step.ratios.emplace_back(static_cast<int>(level.ref_ratio[0]));
  }
  return step;
}

// Each rank the file that it has written, rank 0 the rest and the folders.
void sync_native(const std::string& folder) {
  amrex::ParallelDescriptor::Barrier();
  int number = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const bool is_data = entry.path().filename().string().rfind("Cell_D_", 0) == 0;
    const int owner = is_data ? number++ % amrex::ParallelDescriptor::NProcs() : 0;
    if (owner == amrex::ParallelDescriptor::MyProc()) must(neve::files::sync_path(entry.path().string()));
  }
  if (amrex::ParallelDescriptor::MyProc() == 0) must(neve::files::sync_path(folder));
  amrex::ParallelDescriptor::Barrier();
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Times {
  double stall = 0, cpu = 0, encode = 0, plan = 0;  // of the slowest rank
};

void write_amrex_hdf5([[maybe_unused]] const std::string& path, [[maybe_unused]] const Step& step,
                      [[maybe_unused]] int number) {
#ifdef AMREX_USE_HDF5
  amrex::WriteMultiLevelPlotfileHDF5(path, static_cast<int>(step.levels.size()), step.pointers(), step.names,
                                     step.geom, number, step.numbers, step.ratios);
  amrex::ParallelDescriptor::Barrier();
  if (amrex::ParallelDescriptor::MyProc() == 0) must(neve::files::sync_path(path + ".h5"));
  amrex::ParallelDescriptor::Barrier();
#else
  stop(neve::usage_error("way hdf5 needs an AMReX that was built with HDF5"));
#endif
}

class Run {
 public:
  Run(std::string way, std::string folder, neve::WriteOptions options)
      : way_(std::move(way)), folder_(std::move(folder)), options_(std::move(options)) {
    if (way_ == "native" || way_ == "async" || way_ == "hdf5") return;
    options_.behind = must(neve::parse_behind(way_));
  }

  Times write(const Step& step, int number) {
    const std::string path = amrex::Concatenate(folder_ + "/plt", number);
    amrex::ParallelDescriptor::Barrier();
    Times times;
    const double cpu = cpu_seconds(), begin = amrex::second();
    if (way_ == "native" || way_ == "async") {
      amrex::WriteMultiLevelPlotfile(path, static_cast<int>(step.levels.size()), step.pointers(), step.names,
                                     step.geom, number, step.numbers, step.ratios);
      if (way_ == "native") sync_native(path);
    } else if (way_ == "hdf5") {
      write_amrex_hdf5(path, step, number);
    } else {
      const neve::WriteReport report = neve::amrex::WriteMultiLevelPlotfile(
          path, static_cast<int>(step.levels.size()), step.pointers(), step.names, step.geom, number,
          step.numbers, step.ratios, options_);
      times.encode = report.encode_seconds;
      times.plan = report.plan_seconds;
    }
    times.stall = amrex::second() - begin;
    times.cpu = cpu_seconds() - cpu;
    amrex::ParallelDescriptor::ReduceRealMax(times.stall);
    amrex::ParallelDescriptor::ReduceRealMax(times.cpu);
    return times;
  }

 private:
  std::string way_, folder_;
  neve::WriteOptions options_;
};

void measure(char** arguments) {
  const std::string folder = arguments[2], way = arguments[3];
  const int replicas = number_argument(arguments[4], "REPLICAS", 64);
  const int steps = number_argument(arguments[5], "STEPS", 1000);
  const int pause_ms = number_argument(arguments[6], "PAUSE_MS", 60000);
  if ((way == "async") != amrex::AsyncOut::UseAsyncOut())
    stop(neve::usage_error("way async goes with amrex.async_out=1, and no other does"));
  amrex::VisMF::SetNOutFiles(amrex::ParallelDescriptor::NProcs());
  const Step step = read_step(arguments[1], replicas);
  neve::WriteOptions options;
  options.bound = must(neve::parse_bound(arguments[7]));
  Run run(way, folder, options);
  std::vector<double> stalls, cpus, encodes, plans;
  reset_peak_memory();
  const auto mib = [](const char* of) { return static_cast<double>(process_memory_bytes(of)) / (1 << 20); };
  const double held = mib("VmRSS");
  for (int number = 0; number <= steps; ++number) {
    const Times times = run.write(step, number);
    ::usleep(static_cast<useconds_t>(pause_ms) * 1000);
    if (number == 0) continue;
    stalls.push_back(times.stall);
    cpus.push_back(times.cpu);
    encodes.push_back(times.encode);
    plans.push_back(times.plan);
  }
  neve::amrex::WaitForWrites();
  amrex::AsyncOut::Finish();
  double beside = mib("VmHWM") - held;
  amrex::ParallelDescriptor::ReduceRealMax(beside);
  if (amrex::ParallelDescriptor::MyProc() != 0) return;
  using neve::apps::median_of;
  const nlohmann::json report = {{"way", way},
                                 {"ranks", amrex::ParallelDescriptor::NProcs()},
                                 {"mib", step.bytes() / (1 << 20)},
                                 {"boxes",
                                  [&] {
                                    size_t boxes = 0;
                                    for (const MultiFab& level : step.levels)
                                      boxes += static_cast<size_t>(level.size());
                                    return boxes;
                                  }()},
                                 {"stall_seconds", median_of(stalls)},
                                 {"cpu_seconds", median_of(cpus)},
                                 {"encode_seconds", median_of(encodes)},
                                 {"plan_seconds", median_of(plans)},
                                 {"memory_mib", beside},  // of a rank, beside what it held before
                                 {"stalls", stalls}};
  std::printf("%s\n", report.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8) {
    std::fprintf(stderr, "usage: neve_bench_stall PLOTFILE FOLDER WAY REPLICAS STEPS PAUSE_MS BOUND\n");
    return 2;
  }
  int given = argc - 7;  // AMReX gets the program's name and what comes behind
  std::vector<char*> rest{argv[0]};
  rest.insert(rest.end(), argv + 8, argv + argc);
  char** of_amrex = rest.data();
  amrex::Initialize(given, of_amrex, true, MPI_COMM_WORLD,
                    [] { amrex::ParmParse("amrex").add("verbose", 0); });
  measure(argv);
  amrex::Finalize();
  return 0;
}
