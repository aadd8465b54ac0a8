// SPDX-License-Identifier: BSD-3-Clause
// MPI of one process, for the command of a build without MPI (NEVE_MPI_ALONE): Neve is written for any number
// of ranks, and here there is one. Declared is what such a build uses, so that a call of anything else does
// not compile; the meanings are those of the standard, for one rank, on one thread. Errors are always
// returned.
//
// The functions have C++ names, which no MPI library has: a parallel HDF5 may bring one into the process.
#pragma once

#ifndef __cplusplus
#error "the stand-in for MPI is for C++"
#endif

#include <cstddef>
#include <cstdint>

#define NEVE_MPI_ALONE 1

namespace neve::alone {

struct Comm;
struct Datatype;
struct ErrorHandler;
struct File;
struct Info;
struct Op;
struct Request;

extern Comm world, self;
extern const Datatype of_1_byte, of_4_bytes, of_8_bytes;
extern const ErrorHandler errors_return;
extern char in_place;           // an address like no other
extern const Op kept_as_it_is;  // what any reduction does with the values of one rank

}  // namespace neve::alone

using MPI_Aint = std::ptrdiff_t;
using MPI_Count = std::int64_t;
using MPI_Offset = std::int64_t;
using MPI_Comm = neve::alone::Comm*;
using MPI_Datatype = const neve::alone::Datatype*;
using MPI_Errhandler = const neve::alone::ErrorHandler*;
using MPI_File = neve::alone::File*;
using MPI_Info = neve::alone::Info*;
using MPI_Op = const neve::alone::Op*;
using MPI_Request = neve::alone::Request*;
using MPI_User_function = void(void* in, void* in_out, int* count, MPI_Datatype* type);
using MPI_Comm_delete_attr_function = int(MPI_Comm comm, int key, void* value, void* extra_state);

struct MPI_Status {
  int MPI_SOURCE = 0;
  int MPI_TAG = 0;
  int MPI_ERROR = 0;
  MPI_Count bytes = 0;  // that were moved
};

inline constexpr int MPI_SUCCESS = 0;
inline constexpr int MPI_KEYVAL_INVALID = -1;
inline constexpr int MPI_MAX_ERROR_STRING = 256;
inline constexpr int MPI_MAX_INFO_KEY = 255;
inline constexpr int MPI_MAX_INFO_VAL = 1024;
inline constexpr int MPI_MAX_LIBRARY_VERSION_STRING = 256;
inline constexpr int MPI_THREAD_SINGLE = 0;
inline constexpr int MPI_THREAD_FUNNELED = 1;
inline constexpr int MPI_THREAD_SERIALIZED = 2;
inline constexpr int MPI_THREAD_MULTIPLE = 3;
inline constexpr int MPI_MODE_CREATE = 1;
inline constexpr int MPI_MODE_EXCL = 2;
inline constexpr int MPI_MODE_WRONLY = 4;
inline constexpr int MPI_MODE_RDWR = 8;

inline constexpr MPI_Comm MPI_COMM_NULL = nullptr;
inline constexpr MPI_Comm MPI_COMM_WORLD = &neve::alone::world;
inline constexpr MPI_Comm MPI_COMM_SELF = &neve::alone::self;
inline constexpr MPI_Datatype MPI_DATATYPE_NULL = nullptr;
inline constexpr MPI_Datatype MPI_BYTE = &neve::alone::of_1_byte;
inline constexpr MPI_Datatype MPI_CHAR = &neve::alone::of_1_byte;
inline constexpr MPI_Datatype MPI_INT = &neve::alone::of_4_bytes;
inline constexpr MPI_Datatype MPI_INT32_T = &neve::alone::of_4_bytes;
inline constexpr MPI_Datatype MPI_FLOAT = &neve::alone::of_4_bytes;
inline constexpr MPI_Datatype MPI_INT64_T = &neve::alone::of_8_bytes;
inline constexpr MPI_Datatype MPI_UINT64_T = &neve::alone::of_8_bytes;
inline constexpr MPI_Datatype MPI_DOUBLE = &neve::alone::of_8_bytes;
inline constexpr MPI_Errhandler MPI_ERRHANDLER_NULL = nullptr;
inline constexpr MPI_File MPI_FILE_NULL = nullptr;
#define MPI_FILE_NULL MPI_FILE_NULL  // HDF5's headers look for files of MPI elsewhere where this is no macro
inline constexpr MPI_Info MPI_INFO_NULL = nullptr;
inline constexpr MPI_Op MPI_OP_NULL = nullptr;
inline constexpr MPI_Op MPI_MAX = &neve::alone::kept_as_it_is;
inline constexpr MPI_Op MPI_MIN = &neve::alone::kept_as_it_is;
inline constexpr MPI_Op MPI_SUM = &neve::alone::kept_as_it_is;
inline constexpr MPI_Request MPI_REQUEST_NULL = nullptr;
inline constexpr MPI_Status* MPI_STATUS_IGNORE = nullptr;
inline constexpr MPI_Status* MPI_STATUSES_IGNORE = nullptr;
inline constexpr std::nullptr_t MPI_COMM_NULL_COPY_FN =
    nullptr;  // the one way in which attributes are copied
inline constexpr void* MPI_BOTTOM = nullptr;
inline constexpr void* MPI_IN_PLACE = &neve::alone::in_place;

// process.cpp
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Finalize();
int MPI_Initialized(int* flag);
int MPI_Finalized(int* flag);
int MPI_Query_thread(int* provided);
int MPI_Is_thread_main(int* flag);
int MPI_Abort(MPI_Comm comm, int exit_code);
double MPI_Wtime();
int MPI_Get_library_version(char* text, int* length);

// errors.cpp
int MPI_Error_string(int code, char* text, int* length);

// comm.cpp
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Comm_test_inter(MPI_Comm comm, int* flag);
int MPI_Comm_create_keyval(std::nullptr_t copy, MPI_Comm_delete_attr_function* drop, int* key,
                           void* extra_state);
int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value);
int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* is_there);
int MPI_Comm_delete_attr(MPI_Comm comm, int key);
int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Errhandler_free(MPI_Errhandler* handler);

// datatype.cpp
int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* made);
int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* made);
int MPI_Type_create_hindexed(int count, const int* lengths, const MPI_Aint* places, MPI_Datatype old,
                             MPI_Datatype* made);
int MPI_Type_create_struct(int count, const int* lengths, const MPI_Aint* places, const MPI_Datatype* types,
                           MPI_Datatype* made);
int MPI_Type_commit(MPI_Datatype* type);
int MPI_Type_free(MPI_Datatype* type);
int MPI_Type_size(MPI_Datatype type, int* bytes);
int MPI_Get_address(const void* place, MPI_Aint* address);
int MPI_Get_elements_x(const MPI_Status* status, MPI_Datatype type, MPI_Count* count);

// collectives.cpp
int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op);
int MPI_Op_free(MPI_Op* op);
int MPI_Bcast(void* values, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Ibcast(void* values, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int MPI_Allreduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Iallreduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request);
int MPI_Iexscan(const void* own, void* before, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request);
int MPI_Gatherv(const void* own, int count, MPI_Datatype type, void* all, const int* counts,
                const int* places, MPI_Datatype type_of_all, int root, MPI_Comm comm);
int MPI_Igatherv(const void* own, int count, MPI_Datatype type, void* all, const int* counts,
                 const int* places, MPI_Datatype type_of_all, int root, MPI_Comm comm, MPI_Request* request);
int MPI_Alltoall(const void* own, int count, MPI_Datatype type, void* all, int count_of_each,
                 MPI_Datatype type_of_all, MPI_Comm comm);
int MPI_Alltoallv(const void* own, const int* counts, const int* places, MPI_Datatype type, void* all,
                  const int* counts_of_all, const int* places_of_all, MPI_Datatype type_of_all,
                  MPI_Comm comm);

// messages.cpp
int MPI_Isend(const void* values, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request);
int MPI_Irecv(void* values, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request);
int MPI_Testall(int count, MPI_Request* requests, int* are_done, MPI_Status* statuses);
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses);

// info.cpp
int MPI_Info_create(MPI_Info* info);
int MPI_Info_free(MPI_Info* info);
int MPI_Info_set(MPI_Info info, const char* key, const char* value);
int MPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* is_there);
int MPI_Info_get_valuelen(MPI_Info info, const char* key, int* length, int* is_there);
int MPI_Info_get_nkeys(MPI_Info info, int* count);
int MPI_Info_get_nthkey(MPI_Info info, int number, char* key);

// file.cpp
int MPI_File_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* file);
int MPI_File_close(MPI_File* file);
int MPI_File_sync(MPI_File file);
int MPI_File_get_info(MPI_File file, MPI_Info* info);
int MPI_File_set_view(MPI_File file, MPI_Offset begin, MPI_Datatype unit, MPI_Datatype places,
                      const char* representation, MPI_Info info);
int MPI_File_write_at(MPI_File file, MPI_Offset at, const void* values, int count, MPI_Datatype type,
                      MPI_Status* status);
int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* values, int count, MPI_Datatype type,
                          MPI_Status* status);
