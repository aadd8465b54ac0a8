// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/reasons.hpp"

namespace neve::pmpi {

std::string_view text_of(Reason reason) {
  switch (reason) {
    case Reason::none:
      break;
    case Reason::first_is_small:
      return "its first write is of less than NEVE_MPI_MIN_BYTES";
    case Reason::first_is_of_one_rank:
      return "its first write is one rank's own, not one of all ranks";
    case Reason::other_type:
      return "it is written with a type other than that of its frames, or of floating point";
    case Reason::mixed_types:
      return "the ranks write different types";
    case Reason::inside_of_value:
      return "it is written at a byte inside of a value";
    case Reason::too_large:
      return "it has more values than a frame file holds";
    case Reason::too_much_held:
      return "single ranks write more than may be held in memory";
    case Reason::view_with_holes:
      return "it has a file view with holes, of a derived type, or not native";
    case Reason::shared_pointer:
      return "it is written with a shared file pointer";
    case Reason::nonblocking:
      return "it is written by nonblocking calls";
    case Reason::atomicity:
      return "it is used in atomic mode";
    case Reason::cut_off:
      return "values are cut off";
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
  }
  return "";
}

}  // namespace neve::pmpi
