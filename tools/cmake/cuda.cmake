# Turns CUDA on as ROOF_CUDA asks (AUTO: if nvcc is there; ON: fail if it is not) and sets ROOF_CUDA_FOUND. Include it from
# the folders that hold GPU parts.
include(CheckLanguage)

check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  set(ROOF_CUDA_FOUND TRUE)
elseif(ROOF_CUDA STREQUAL ON)
  message(FATAL_ERROR "ROOF_CUDA=ON, but nvcc was not found: install the CUDA toolkit, put nvcc on PATH or set "
                      "CMAKE_CUDA_COMPILER, or configure with ROOF_CUDA=AUTO")
else()
  set(ROOF_CUDA_FOUND FALSE)
  return()
endif()

# Before the language is enabled, or CMake chooses one old architecture of its own. sm_100 came with CUDA 12.8.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known_architectures)
  set(architectures 80-real 90-real 100-real 90-virtual)
  if(NOT known_architectures MATCHES compute_100)
    list(REMOVE_ITEM architectures 100-real)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "GPU architectures to build for")
endif()
# Kernels of what came with compute capability 9.0 are not built for older ones. (Those of wgmma are for 90a alone, whose
# instructions no other has.)
set(ROOF_CUDA_ARCHITECTURES_90 ${CMAKE_CUDA_ARCHITECTURES})
list(FILTER ROOF_CUDA_ARCHITECTURES_90 EXCLUDE REGEX "^[78][0-9]")
if(NOT ROOF_CUDA_ARCHITECTURES_90 OR CMAKE_CUDA_ARCHITECTURES MATCHES "native|all")
  set(ROOF_CUDA_ARCHITECTURES_90 90-real)
endif()
# Line numbers are for profilers. Uncompressed, the machine code can be read from the object that is shipped, as a test does.
set(ROOF_CUDA_OPTIONS -lineinfo --no-compress --expt-relaxed-constexpr)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
# CMake 3.25 does not know that nvcc speaks C++20.
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
