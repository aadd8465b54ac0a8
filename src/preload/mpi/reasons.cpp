// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/reasons.hpp"

namespace neve::pmpi {

std::string_view text_of(Reason reason) {
  switch (reason) {
    case Reason::none:
      break;
    case Reason::too_large:
      return "it has more bytes than a frame file holds";
    case Reason::scattered:
      return "it is written in so many single places that a list of them would be larger";
    case Reason::other_view:
      return "it has a file view that is not native, or whose bytes are not in their order in the file";
    case Reason::too_much_before:
      return "it has more than 256 MiB of other data before the first values";
    case Reason::sequential:
      return "it is opened with MPI_MODE_SEQUENTIAL";
    case Reason::atomicity:
      return "it is used in atomic mode";
    case Reason::opened_twice:
      return "it is opened more than once at a time";
    case Reason::opened_by_some:
      return "it is opened by some ranks, not by all";
    case Reason::other_data:
      return "it already holds other data than frames";
    case Reason::deleted:
      return "it is deleted when it is closed";
    case Reason::no_room_beside:
      return "no file can be made beside it";
    case Reason::not_asked_for:
      return "it is written by a program that is not asked to write frames";
    case Reason::does_not_pay:
      return "values are in it sooner than frames would be (--always writes frames)";
  }
  return "";
}

}  // namespace neve::pmpi
