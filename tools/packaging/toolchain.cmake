# Debian 12's compiler with the C library and the libraries of the root that tools/packaging/root.bash made, at $ENV{ROOF_OLDER_ROOT}.
set(root $ENV{ROOF_OLDER_ROOT})
set(libraries ${root}/usr/lib/x86_64-linux-gnu)
set(CMAKE_SYSROOT ${root})
set(CMAKE_C_COMPILER gcc-12)
set(CMAKE_CXX_COMPILER g++-12)
set(CMAKE_CUDA_HOST_COMPILER /usr/bin/g++-12)
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu)

# A compiler looks for libraries in its own folders before it does in those of another root.
set(places "--sysroot=${root} -B${libraries} -L${root}/opt/roof/lib -L${libraries} -L${root}/lib/x86_64-linux-gnu")
set(CMAKE_CXX_FLAGS_INIT "-B${libraries}")
set(CMAKE_CUDA_FLAGS_INIT "-Xcompiler=--sysroot=${root},-B${libraries}")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "${places}")
endforeach()

# CUDA is this system's.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${root}/usr/share/pkgconfig)
set(fmt_DIR ${CMAKE_CURRENT_LIST_DIR})
set(ROOF_DNNL_INCLUDE ${root}/opt/roof/include)
set(ROOF_DNNL_LIBRARY ${root}/opt/roof/lib/libdnnl.so)

# As it will lie in the wheel: the Python package, in it `program` with bin and lib/roof; beside the package NVIDIA's.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(ROOF_GPU_PLACES "")
foreach(folder cu13 cudnn nccl)
  list(APPEND ROOF_GPU_PLACES "$ORIGIN/../../../../nvidia/${folder}/lib")
endforeach()
