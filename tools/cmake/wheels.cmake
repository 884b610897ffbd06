# Finds cuDNN 9 and cuBLASLt: in CUDNN_ROOT, the CUDA toolkit, the system, a Python's site-packages, or the wheels that
# tools/install_dependencies unpacked. Sets ROOF_CUDNN_FOUND, or ROOF_CUDNN_MISSING to a reason; makes roof_cudnn_libraries.
# Include it after cuda.cmake.
set(CUDNN_ROOT "" CACHE PATH "Folder with cuDNN's include and lib; empty: look in the usual places")

# Wheels hold libraries under their run-time name only, without the link that compilers look for.
set(list wheels.txt)
if(CUDAToolkit_VERSION_MAJOR EQUAL 12)
  set(list wheels_cu12.txt)
endif()
file(SHA256 ${PROJECT_SOURCE_DIR}/tools/cmake/${list} ROOF_WHEELS_DIGEST)
string(SUBSTRING ${ROOF_WHEELS_DIGEST} 0 16 ROOF_WHEELS_DIGEST)
set(cache $ENV{XDG_CACHE_HOME})
if(NOT cache)
  set(cache $ENV{HOME}/.cache)
endif()
set(wheels ${cache}/roof/wheels/${ROOF_WHEELS_DIGEST}/nvidia)

# An active virtual environment has priority over the system's Python.
find_package(Python3 COMPONENTS Interpreter QUIET)
set(site_packages "")
if(Python3_FOUND)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import nvidia; print(*nvidia.__path__, sep=';')"
    OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

set(cudnn_places ${CUDNN_ROOT} ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_TARGET_DIR})
set(cublas_places ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_TARGET_DIR})
foreach(place IN LISTS site_packages wheels)
  list(APPEND cudnn_places ${place}/cudnn)
  list(APPEND cublas_places ${place}/cu13 ${place}/cublas)
endforeach()

# Searched again at each configuration, since missing files may have been installed.
foreach(variable CUDNN_INCLUDE CUDNN_LIBRARY CUBLASLT_INCLUDE CUBLASLT_LIBRARY)
  if(NOT ROOF_${variable})
    unset(ROOF_${variable} CACHE)
  endif()
endforeach()
find_path(ROOF_CUDNN_INCLUDE cudnn_graph.h HINTS ${cudnn_places} PATH_SUFFIXES include)
find_library(ROOF_CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${cudnn_places} PATH_SUFFIXES lib lib64)
find_path(ROOF_CUBLASLT_INCLUDE cublasLt.h HINTS ${cublas_places} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(ROOF_CUBLASLT_LIBRARY NAMES libcublasLt.so.${CUDAToolkit_VERSION_MAJOR} cublasLt HINTS ${cublas_places}
  PATH_SUFFIXES lib lib64)
mark_as_advanced(ROOF_CUDNN_INCLUDE ROOF_CUDNN_LIBRARY ROOF_CUBLASLT_INCLUDE ROOF_CUBLASLT_LIBRARY)

set(ROOF_CUDNN_FOUND FALSE)
if(NOT ROOF_CUDNN_INCLUDE OR NOT ROOF_CUDNN_LIBRARY)
  set(ROOF_CUDNN_MISSING "cuDNN 9 was not found when this was built")
elseif(NOT ROOF_CUBLASLT_INCLUDE OR NOT ROOF_CUBLASLT_LIBRARY)
  set(ROOF_CUDNN_MISSING "cuBLASLt of CUDA ${CUDAToolkit_VERSION_MAJOR} was not found when this was built")
else()
  set(ROOF_CUDNN_FOUND TRUE)
  add_library(roof_cudnn_libraries INTERFACE)
  target_include_directories(roof_cudnn_libraries SYSTEM INTERFACE
    ${ROOF_CUDNN_INCLUDE} ${ROOF_CUBLASLT_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(roof_cudnn_libraries INTERFACE ${ROOF_CUDNN_LIBRARY} ${ROOF_CUBLASLT_LIBRARY})
endif()
