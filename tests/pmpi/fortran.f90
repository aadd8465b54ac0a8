! SPDX-License-Identifier: BSD-3-Clause
! What Fortran's bindings call: a gather, whose largest error rank 0 prints, and a file of all ranks' values.
program fortran
  use mpi
  implicit none
  integer, parameter :: count = 50000
  integer :: error, rank, ranks, i, file, status(MPI_STATUS_SIZE)
  integer(kind=MPI_OFFSET_KIND) :: offset
  real :: own(count), worst
  real, allocatable :: all(:)
  character(len=256) :: path

  call get_command_argument(1, path)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do i = 1, count
    own(i) = sin(0.001 * i) + rank
  end do
  allocate (all(count * ranks))
  call MPI_Gather(own, count, MPI_REAL, all, count, MPI_REAL, 0, MPI_COMM_WORLD, error)
  if (rank == 0) then
    worst = 0
    do i = 1, count * ranks
      worst = max(worst, abs(all(i) - sin(0.001 * (mod(i - 1, count) + 1)) - (i - 1) / count))
    end do
    print *, worst
  end if
  call MPI_File_open(MPI_COMM_WORLD, trim(path), ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), MPI_INFO_NULL, file, &
                     error)
  offset = int(rank, MPI_OFFSET_KIND) * count * 4
  call MPI_File_write_at_all(file, offset, own, count, MPI_REAL, status, error)
  call MPI_File_close(file, error)
  call MPI_Finalize(error)
end program
