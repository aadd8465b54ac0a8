// SPDX-License-Identifier: BSD-3-Clause
#include "fields.hpp"

#include <AMReX_GpuDevice.H>
#include <AMReX_ParallelDescriptor.H>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace neve::test {

using namespace ::amrex;

Mesh make_mesh() {
  constexpr int cells = 32;
  Mesh mesh;
  const ::amrex::Box domain(IntVect(0), IntVect(cells - 1));
  const RealBox place({AMREX_D_DECL(Real(-1), Real(0), Real(2))}, {AMREX_D_DECL(Real(1), Real(2), Real(4))});
  const Array<int, AMREX_SPACEDIM> periodic{};
  mesh.geom.emplace_back(domain, place, CoordSys::cartesian, periodic);
  mesh.geom.emplace_back(refine(domain, 2), place, CoordSys::cartesian, periodic);
  mesh.boxes.emplace_back(domain);
  mesh.boxes[0].maxSize(16);
  // 24 cells in pieces of at most 16: boxes of different sizes.
  mesh.boxes.emplace_back(::amrex::Box(IntVect(16), IntVect(39)));
  mesh.boxes[1].maxSize(IntVect(AMREX_D_DECL(16, 16, 8)));
  for (const BoxArray& boxes : mesh.boxes) mesh.owners.emplace_back(boxes);
  return mesh;
}

Real field_value(const Mesh& mesh, int level, int component, const IntVect& cell) {
  double value = component;
  for (int d = 0; d < AMREX_SPACEDIM; ++d) {
    const double x = (cell[d] + 0.5) * mesh.geom[level].CellSize(d);
    value += std::sin((3 + d + component) * x) / (d + 1);
  }
  return static_cast<Real>(value);
}

MultiFab make_field(const Mesh& mesh, int level, const IndexType& centring, int components, int ghosts,
                    bool box_matters) {
  return make_field(mesh, level, centring, components, IntVect(ghosts), box_matters);
}

MultiFab make_field(const Mesh& mesh, int level, const IndexType& centring, int components,
                    const IntVect& ghosts, bool box_matters) {
  MultiFab field(convert(mesh.boxes[level], centring), mesh.owners[level], components, ghosts);
  field.setVal(ghost_value);
  Gpu::streamSynchronize();
  for (const int box : field.IndexArray()) {
    FArrayBox& fab = field[box];
    for (int c = 0; c < components; ++c) {
      LoopOnCpu(field.box(box), [&](int i, int j, int k) {
        const IntVect cell(AMREX_D_DECL(i, j, k));
        fab(cell, c) = field_value(mesh, level, c, cell) + (box_matters ? Real(0.001) * Real(box) : Real(0));
        ignore_unused(j, k);
      });
    }
  }
  return field;
}

Vector<const MultiFab*> const_pointers(const Vector<MultiFab>& levels) {
  Vector<const MultiFab*> all;
  for (const MultiFab& level : levels) all.push_back(&level);
  return all;
}

Vector<MultiFab*> pointers(Vector<MultiFab>& levels) {
  Vector<MultiFab*> all;
  for (MultiFab& level : levels) all.push_back(&level);
  return all;
}

bool same_bits(const MultiFab& a, const MultiFab& b, int ghosts) {
  if (a.boxArray() != b.boxArray() || a.nComp() != b.nComp()) return false;
  MultiFab moved(a.boxArray(), a.DistributionMap(), a.nComp(), ghosts);
  moved.Redistribute(b, 0, 0, a.nComp(), IntVect(ghosts));
  Gpu::streamSynchronize();
  bool same = true;
  for (const int box : a.IndexArray()) {
    for (int c = 0; c < a.nComp(); ++c) {
      LoopOnCpu(grow(a.box(box), ghosts), [&](int i, int j, int k) {
        const IntVect cell(AMREX_D_DECL(i, j, k));
        same = same && std::memcmp(&a[box](cell, c), &moved[box](cell, c), sizeof(Real)) == 0;
        ignore_unused(j, k);
      });
    }
  }
  ParallelDescriptor::ReduceBoolAnd(same);
  return same;
}

Directory::Directory() {
  std::array<char, 4096> name{};
  if (ParallelDescriptor::IOProcessor()) {
    const std::string pattern = (std::filesystem::temp_directory_path() / "neve_amrex_XXXXXX").string();
    std::copy(pattern.begin(), pattern.end(), name.begin());
    if (::mkdtemp(name.data()) == nullptr) std::abort();
  }
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, ParallelDescriptor::Communicator());
  path_ = name.data();
}

Directory::~Directory() {
  ParallelDescriptor::Barrier();
  std::error_code ignored;
  if (ParallelDescriptor::IOProcessor()) std::filesystem::remove_all(path_, ignored);
  ParallelDescriptor::Barrier();
}

std::vector<std::string> Directory::list() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool same_everywhere(const Status& status) {
  std::string first = std::to_string(static_cast<int>(status.code())) + status.message();
  const std::string mine = first;
  int length = static_cast<int>(first.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, ParallelDescriptor::Communicator());
  first.resize(static_cast<size_t>(length));
  MPI_Bcast(first.data(), length, MPI_CHAR, 0, ParallelDescriptor::Communicator());
  bool same = first == mine;
  ParallelDescriptor::ReduceBoolAnd(same);
  return same;
}

namespace {

// Plain memory that says it is a device's, or shared with one.
class ArenaLikeADevices : public ::amrex::Arena {
 public:
  explicit ArenaLikeADevices(bool is_shared) : is_shared_(is_shared) {}
  void* alloc(std::size_t bytes) override { return std::malloc(bytes); }
  void free(void* memory) override { std::free(memory); }
  bool isHostAccessible() const override { return is_shared_; }
  bool isManaged() const override { return is_shared_; }
  bool isDevice() const override { return !is_shared_; }

 private:
  bool is_shared_;
};

void copy_to_device(void* to, const void* from, size_t bytes) {
#ifdef AMREX_USE_GPU
  Gpu::htod_memcpy_async(to, from, bytes);
#else
  std::memcpy(to, from, bytes);
#endif
}
void copy_from_device(void* to, const void* from, size_t bytes) {
#ifdef AMREX_USE_GPU
  Gpu::dtoh_memcpy_async(to, from, bytes);
#else
  std::memcpy(to, from, bytes);
#endif
}

template <class Copy>
::amrex::Vector<::amrex::MultiFab> copies_in(const ::amrex::Vector<::amrex::MultiFab>& levels,
                                             ::amrex::Arena& arena, const Copy& copy) {
  ::amrex::Vector<::amrex::MultiFab> copies(levels.size());
  for (int l = 0; l < levels.size(); ++l) {
    copies[l].define(levels[l].boxArray(), levels[l].DistributionMap(), levels[l].nComp(),
                     levels[l].nGrowVect(), ::amrex::MFInfo().SetArena(&arena));
    for (const int box : copies[l].IndexArray())
      copy(copies[l][box].dataPtr(), levels[l][box].dataPtr(), levels[l][box].nBytes());
  }
  Gpu::streamSynchronize();
  return copies;
}

}  // namespace

::amrex::Arena& device_arena(bool is_shared) {
#ifdef AMREX_USE_GPU
  return is_shared ? *The_Managed_Arena() : *The_Device_Arena();
#else
  static ArenaLikeADevices shared(true), own(false);
  return is_shared ? shared : own;
#endif
}

::amrex::Vector<::amrex::MultiFab> in_arena(const ::amrex::Vector<::amrex::MultiFab>& levels,
                                            ::amrex::Arena& arena) {
  return copies_in(levels, arena, copy_to_device);
}

::amrex::Vector<::amrex::MultiFab> on_host(const ::amrex::Vector<::amrex::MultiFab>& levels) {
  return copies_in(levels, *The_Pinned_Arena(), copy_from_device);
}

}  // namespace neve::test
