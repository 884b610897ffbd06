# Settings of all targets: language, warnings, output folders, options.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# No -march=native: results must not depend on the machine that built the program. Hot code is generated or dispatched at run time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# GCC looks for memory to free from 1 GB on, which no source takes: large ones compile in a seventh less time, with two fifths more memory.
# clang-tidy refuses the option.
if(NOT CMAKE_CXX_CLANG_TIDY)
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>)
endif()

option(ROOF_TESTS "Build the tests" ON)
option(ROOF_WERROR "Treat warnings as errors" OFF)
# CMake's own option: the sources of a target are compiled 24 at a time, in two fifths of the processor time. Off, a change compiles one
# source. Sources with measured loops are always compiled alone, so that no source changes the machine code of another.
option(CMAKE_UNITY_BUILD "Compile the sources of a target together" ON)
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
endif()
set(ROOF_CUDA AUTO CACHE STRING "Build the GPU parts: AUTO (if nvcc is found), ON (fail if not), OFF")
set_property(CACHE ROOF_CUDA PROPERTY STRINGS AUTO ON OFF)

# A designated initializer leaves the other members at their defaults. GCC 12 warns wrongly of copies of strings (its bug 105651). In sources
# that are compiled together, a name may hide one of another source.
add_library(roof_warnings INTERFACE)
add_library(roof::warnings ALIAS roof_warnings)
target_compile_options(roof_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:${CMAKE_UNITY_BUILD}>>>:-Wshadow>
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ROOF_WERROR}>>:-Werror>)

include(precompiled)

# roof_library(<name> SOURCES <file>… [USES <target>…] [OPENMP] [COLD]): a static library `roof_<name>` with the alias roof::<name>. OPENMP
# compiles its sources, not those that link it, with OpenMP where the compiler has it. COLD is for code whose speed nobody notices: a
# release compiles it with -O1, in seven tenths of the time.
set(ROOF_COLD $<$<CONFIG:Release>:-O1>)
function(roof_library name)
  cmake_parse_arguments(arg "OPENMP;COLD" "" "SOURCES;USES" ${ARGN})
  add_library(roof_${name} STATIC ${arg_SOURCES})
  add_library(roof::${name} ALIAS roof_${name})
  target_include_directories(roof_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(roof_${name} PUBLIC ${arg_USES} PRIVATE roof::warnings)
  if(arg_COLD)
    target_compile_options(roof_${name} PRIVATE ${ROOF_COLD})
  endif()
  if(arg_OPENMP AND OpenMP_CXX_FOUND)
    target_link_libraries(roof_${name} PRIVATE OpenMP::OpenMP_CXX)
    target_precompile_headers(roof_${name} REUSE_FROM roof_precompiled_openmp)
  else()
    target_precompile_headers(roof_${name} REUSE_FROM roof_precompiled)
  endif()
endfunction()
