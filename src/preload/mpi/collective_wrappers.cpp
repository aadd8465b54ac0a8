// SPDX-License-Identifier: BSD-3-Clause
// What stands before MPI's collective functions.
#include "preload/mpi/collectives.hpp"
#include "preload/trace/mpi_both_names.hpp"
#include "preload/trace/mpi_library.hpp"

using namespace neve::pmpi;

namespace {

// Arrays that are not there are for MPI to judge.
template <class Number>
std::function<int64_t(int)> numbers_of(const Number* numbers) {
  if (numbers == nullptr) return {};
  return [numbers](int rank) { return static_cast<int64_t>(numbers[rank]); };
}

Side alike(const void* data, int64_t count, MPI_Datatype type) {
  return {const_cast<void*>(data), type, count, false, {}, {}};
}
template <class Number, class Displacement>
Side of_counts(const void* data, const Number* counts, const Displacement* displs, MPI_Datatype type) {
  return {const_cast<void*>(data), type, 0, true, numbers_of(counts), numbers_of(displs)};
}

}  // namespace

#define PLAIN(name, arguments) [&] { return NEVE_PMPI(name) arguments; }

// Parameters and arguments of the functions of each kind; `number` and `place` are the types of counts and
// displacements.
#define GATHER(name, number, place)                                                                         \
  BOTH(int, name,                                                                                           \
       (const void* send, number send_count, MPI_Datatype send_type, void* recv, number recv_count,         \
        MPI_Datatype recv_type, int root, MPI_Comm comm),                                                   \
       (send, send_count, send_type, recv, recv_count, recv_type, root, comm)) {                            \
    return collective(                                                                                      \
        {Kind::gather, alike(send, send_count, send_type), alike(recv, recv_count, recv_type), root, comm}, \
        PLAIN(name, (send, send_count, send_type, recv, recv_count, recv_type, root, comm)));               \
  }
#define GATHERV(name, number, place)                                                                         \
  BOTH(int, name,                                                                                            \
       (const void* send, number send_count, MPI_Datatype send_type, void* recv, const number counts[],      \
        const place displs[], MPI_Datatype recv_type, int root, MPI_Comm comm),                              \
       (send, send_count, send_type, recv, counts, displs, recv_type, root, comm)) {                         \
    return collective(                                                                                       \
        {Kind::gather, alike(send, send_count, send_type), of_counts(recv, counts, displs, recv_type), root, \
         comm},                                                                                              \
        PLAIN(name, (send, send_count, send_type, recv, counts, displs, recv_type, root, comm)));            \
  }
#define ALLGATHER(name, number, place)                                                                      \
  BOTH(int, name,                                                                                           \
       (const void* send, number send_count, MPI_Datatype send_type, void* recv, number recv_count,         \
        MPI_Datatype recv_type, MPI_Comm comm),                                                             \
       (send, send_count, send_type, recv, recv_count, recv_type, comm)) {                                  \
    return collective(                                                                                      \
        {Kind::allgather, alike(send, send_count, send_type), alike(recv, recv_count, recv_type), 0, comm}, \
        PLAIN(name, (send, send_count, send_type, recv, recv_count, recv_type, comm)));                     \
  }
#define ALLGATHERV(name, number, place)                                                                   \
  BOTH(int, name,                                                                                         \
       (const void* send, number send_count, MPI_Datatype send_type, void* recv, const number counts[],   \
        const place displs[], MPI_Datatype recv_type, MPI_Comm comm),                                     \
       (send, send_count, send_type, recv, counts, displs, recv_type, comm)) {                            \
    return collective({Kind::allgather, alike(send, send_count, send_type),                               \
                       of_counts(recv, counts, displs, recv_type), 0, comm},                              \
                      PLAIN(name, (send, send_count, send_type, recv, counts, displs, recv_type, comm))); \
  }
#define ALLTOALL(name, number, place)                                                                      \
  BOTH(int, name,                                                                                          \
       (const void* send, number send_count, MPI_Datatype send_type, void* recv, number recv_count,        \
        MPI_Datatype recv_type, MPI_Comm comm),                                                            \
       (send, send_count, send_type, recv, recv_count, recv_type, comm)) {                                 \
    return collective(                                                                                     \
        {Kind::alltoall, alike(send, send_count, send_type), alike(recv, recv_count, recv_type), 0, comm}, \
        PLAIN(name, (send, send_count, send_type, recv, recv_count, recv_type, comm)));                    \
  }
#define ALLTOALLV(name, number, place)                                                                   \
  BOTH(int, name,                                                                                        \
       (const void* send, const number send_counts[], const place send_displs[], MPI_Datatype send_type, \
        void* recv, const number recv_counts[], const place recv_displs[], MPI_Datatype recv_type,       \
        MPI_Comm comm),                                                                                  \
       (send, send_counts, send_displs, send_type, recv, recv_counts, recv_displs, recv_type, comm)) {   \
    return collective({Kind::alltoall, of_counts(send, send_counts, send_displs, send_type),             \
                       of_counts(recv, recv_counts, recv_displs, recv_type), 0, comm},                   \
                      PLAIN(name, (send, send_counts, send_displs, send_type, recv, recv_counts,         \
                                   recv_displs, recv_type, comm)));                                      \
  }
#define BCAST(name, number, place)                                                          \
  BOTH(int, name, (void* values, number count, MPI_Datatype type, int root, MPI_Comm comm), \
       (values, count, type, root, comm)) {                                                 \
    const Side side = alike(values, count, type);                                           \
    return collective({Kind::bcast, side, side, root, comm},                                \
                      PLAIN(name, (values, count, type, root, comm)));                      \
  }
#define SCATTER(name, number, place)                                                                         \
  BOTH(int, name,                                                                                            \
       (const void* send, number send_count, MPI_Datatype send_type, void* recv, number recv_count,          \
        MPI_Datatype recv_type, int root, MPI_Comm comm),                                                    \
       (send, send_count, send_type, recv, recv_count, recv_type, root, comm)) {                             \
    return collective(                                                                                       \
        {Kind::scatter, alike(send, send_count, send_type), alike(recv, recv_count, recv_type), root, comm}, \
        PLAIN(name, (send, send_count, send_type, recv, recv_count, recv_type, root, comm)));                \
  }
#define SCATTERV(name, number, place)                                                                      \
  BOTH(int, name,                                                                                          \
       (const void* send, const number counts[], const place displs[], MPI_Datatype send_type, void* recv, \
        number recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm),                               \
       (send, counts, displs, send_type, recv, recv_count, recv_type, root, comm)) {                       \
    return collective(                                                                                     \
        {Kind::scatter, of_counts(send, counts, displs, send_type), alike(recv, recv_count, recv_type),    \
         root, comm},                                                                                      \
        PLAIN(name, (send, counts, displs, send_type, recv, recv_count, recv_type, root, comm)));          \
  }

#define ALL_KINDS(suffix, number, place)        \
  GATHER(Gather##suffix, number, place)         \
  GATHERV(Gatherv##suffix, number, place)       \
  ALLGATHER(Allgather##suffix, number, place)   \
  ALLGATHERV(Allgatherv##suffix, number, place) \
  ALLTOALL(Alltoall##suffix, number, place)     \
  ALLTOALLV(Alltoallv##suffix, number, place)   \
  BCAST(Bcast##suffix, number, place)           \
  SCATTER(Scatter##suffix, number, place)       \
  SCATTERV(Scatterv##suffix, number, place)

ALL_KINDS(, int, int)
#if MPI_VERSION >= 4
ALL_KINDS(_c, MPI_Count, MPI_Aint)
#endif

#define NONBLOCKING(name, kind, sent, parameters, arguments)                 \
  BOTH(int, name, parameters, arguments) {                                   \
    return pass_nonblocking(Kind::kind, sent, comm, PLAIN(name, arguments)); \
  }
#define SENT(count, type) (send == MPI_IN_PLACE ? Side{} : alike(send, count, type))
// Parameters that functions of several kinds have.
#define TWO_SIDES(number)                                                                     \
  const void *send, number send_count, MPI_Datatype send_type, void *recv, number recv_count, \
      MPI_Datatype recv_type

#define ALL_NONBLOCKING(suffix, number, place)                                                         \
  NONBLOCKING(Igather##suffix, gather, SENT(send_count, send_type),                                    \
              (TWO_SIDES(number), int root, MPI_Comm comm, MPI_Request* request),                      \
              (send, send_count, send_type, recv, recv_count, recv_type, root, comm, request))         \
  NONBLOCKING(                                                                                         \
      Igatherv##suffix, gather, SENT(send_count, send_type),                                           \
      (const void* send, number send_count, MPI_Datatype send_type, void* recv, const number counts[], \
       const place displs[], MPI_Datatype recv_type, int root, MPI_Comm comm, MPI_Request* request),   \
      (send, send_count, send_type, recv, counts, displs, recv_type, root, comm, request))             \
  NONBLOCKING(Iallgather##suffix, allgather, SENT(send_count, send_type),                              \
              (TWO_SIDES(number), MPI_Comm comm, MPI_Request * request),                               \
              (send, send_count, send_type, recv, recv_count, recv_type, comm, request))               \
  NONBLOCKING(                                                                                         \
      Iallgatherv##suffix, allgather, SENT(send_count, send_type),                                     \
      (const void* send, number send_count, MPI_Datatype send_type, void* recv, const number counts[], \
       const place displs[], MPI_Datatype recv_type, MPI_Comm comm, MPI_Request* request),             \
      (send, send_count, send_type, recv, counts, displs, recv_type, comm, request))                   \
  NONBLOCKING(Ialltoall##suffix, alltoall, SENT(send_count, send_type),                                \
              (TWO_SIDES(number), MPI_Comm comm, MPI_Request * request),                               \
              (send, send_count, send_type, recv, recv_count, recv_type, comm, request))               \
  NONBLOCKING(                                                                                         \
      Ibcast##suffix, bcast, alike(values, count, type),                                               \
      (void* values, number count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),  \
      (values, count, type, root, comm, request))                                                      \
  NONBLOCKING(Iscatter##suffix, scatter, alike(recv, recv_count, recv_type),                           \
              (TWO_SIDES(number), int root, MPI_Comm comm, MPI_Request* request),                      \
              (send, send_count, send_type, recv, recv_count, recv_type, root, comm, request))

ALL_NONBLOCKING(, int, int)
#if MPI_VERSION >= 4
ALL_NONBLOCKING(_c, MPI_Count, MPI_Aint)
#endif
