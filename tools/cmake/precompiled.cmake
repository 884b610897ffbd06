# Precompiled headers: the standard library and fmt are parsed once for each set of compiler flags, not once in each file. Every
# source still includes what it uses; -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without them.
find_package(fmt REQUIRED)
find_package(OpenMP COMPONENTS CXX)
set(ROOF_PRECOMPILED
  <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <filesystem> <fstream> <functional> <limits> <map> <memory> <numeric>
  <optional> <ostream> <set> <span> <sstream> <stdexcept> <string> <string_view> <tuple> <utility> <variant> <vector> <fmt/format.h>)

# Libraries reuse roof_precompiled. The compiler refuses it for sources with OpenMP; those reuse roof_precompiled_openmp.
set(ROOF_PRECOMPILED_STUB ${PROJECT_BINARY_DIR}/precompiled.cpp)
file(CONFIGURE OUTPUT ${ROOF_PRECOMPILED_STUB} CONTENT "int main()\n{\n}\n")
add_library(roof_precompiled OBJECT ${ROOF_PRECOMPILED_STUB})
target_link_libraries(roof_precompiled PRIVATE roof::warnings fmt::fmt)
target_precompile_headers(roof_precompiled PRIVATE ${ROOF_PRECOMPILED})
# roof_reuse_precompiled(<target>…): the libraries' header for other targets, whose code is then position-independent as theirs.
function(roof_reuse_precompiled)
  foreach(target ${ARGN})
    target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_options(${target} PRIVATE -fPIC)
    target_precompile_headers(${target} REUSE_FROM roof_precompiled)
  endforeach()
endfunction()
if(OpenMP_CXX_FOUND)
  add_library(roof_precompiled_openmp OBJECT ${ROOF_PRECOMPILED_STUB})
  target_link_libraries(roof_precompiled_openmp PRIVATE roof::warnings fmt::fmt OpenMP::OpenMP_CXX)
  target_precompile_headers(roof_precompiled_openmp PRIVATE ${ROOF_PRECOMPILED})
endif()
