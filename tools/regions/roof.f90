! Regions of a Fortran program for roof, as roof.h has them for C (docs/regions.md):
!
!     call roof_begin("solve")
!     call solve(x)
!     call roof_work("solve", flops, bytes)    ! if you know them, for each call; 0d0: not known
!     call roof_end("solve")
!
!     cc -c -x c roof.h -o roof_regions.o
!     gfortran roof.f90 program.f90 roof_regions.o
module roof
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_null_char
  implicit none
  private
  public :: roof_begin, roof_end, roof_work

  integer(c_int), bind(c, name="roof_state") :: state  ! 0: not asked yet; 1: recording; -1: not

  interface
    integer(c_int) function start() bind(c, name="roof_start")
      import :: c_int
    end function
    subroutine begin_recorded(name) bind(c, name="roof_begin_recorded")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine end_recorded(name) bind(c, name="roof_end_recorded")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine work_recorded(name, flops, bytes) bind(c, name="roof_work_recorded")
      import :: c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: flops, bytes
    end subroutine
  end interface

contains

  logical function is_recording()
    is_recording = state > 0
    if (state == 0) is_recording = start() > 0
  end function

  subroutine roof_begin(name)
    character(*), intent(in) :: name
    if (is_recording()) call begin_recorded(trim(name) // c_null_char)
  end subroutine

  subroutine roof_end(name)
    character(*), intent(in) :: name
    if (is_recording()) call end_recorded(trim(name) // c_null_char)
  end subroutine

  subroutine roof_work(name, flops, bytes)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: flops, bytes
    if (is_recording()) call work_recorded(trim(name) // c_null_char, flops, bytes)
  end subroutine

end module roof
