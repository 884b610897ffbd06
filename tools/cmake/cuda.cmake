# Enables CUDA as ROOF_CUDA says (AUTO: if nvcc is found; ON: fails without it) and sets ROOF_CUDA_FOUND. Included by the folders with
# GPU parts.
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

# Must be set before the language is enabled; CMake's default is one old architecture. The cards of this machine, or without a card 8.0,
# each with PTX, which the driver compiles for newer cards.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE cards ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" architectures "${cards}")
  list(TRANSFORM architectures REPLACE "\\." "")
  list(REMOVE_DUPLICATES architectures)
  if(NOT architectures)
    set(architectures 80)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "GPU architectures to build for")
endif()
# Kernels that need compute capability 8.0 or 9.0 are not built for older ones. (wgmma exists only on 90a.)
set(ROOF_CUDA_ARCHITECTURES_80 ${CMAKE_CUDA_ARCHITECTURES})
list(FILTER ROOF_CUDA_ARCHITECTURES_80 EXCLUDE REGEX "^[67][0-9]")
set(ROOF_CUDA_ARCHITECTURES_90 ${ROOF_CUDA_ARCHITECTURES_80})
list(FILTER ROOF_CUDA_ARCHITECTURES_90 EXCLUDE REGEX "^8[0-9]")
foreach(least 80 90)
  if(NOT ROOF_CUDA_ARCHITECTURES_${least} OR CMAKE_CUDA_ARCHITECTURES MATCHES "native|all")
    set(ROOF_CUDA_ARCHITECTURES_${least} ${least})
  endif()
endforeach()
# The oldest compute capability that all other kernels are built for.
set(ROOF_CUDA_OLDEST 80)
foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
  if(architecture MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS ROOF_CUDA_OLDEST)
    set(ROOF_CUDA_OLDEST ${CMAKE_MATCH_1})
  endif()
endforeach()
# Line numbers are for profilers. Uncompressed, because a test reads the machine code from the object.
set(ROOF_CUDA_OPTIONS -lineinfo --no-compress --expt-relaxed-constexpr)
enable_language(CUDA)
# CUDA 13 has no such library, and CMake 3.25 sets a property of its target all the same.
if(NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED GLOBAL)
endif()
find_package(CUDAToolkit REQUIRED)

set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
# CMake 3.25 does not know nvcc's option for C++20.
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()

# roof_together(<variable> <name> <file>…) appends to the variable a source <name>.cu that includes these files: nvcc reads the headers of a
# source three times, which takes longer than most kernels. Without CMAKE_UNITY_BUILD it appends the files themselves.
function(roof_together variable name)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  if(CMAKE_UNITY_BUILD)
    list(TRANSFORM sources REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE text)
    string(JOIN "" text ${text})
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu)
    file(CONFIGURE OUTPUT ${sources} CONTENT "${text}" @ONLY)
  endif()
  set(${variable} ${${variable}} ${sources} PARENT_SCOPE)
endfunction()
