# What `cmake --install` puts where, relative to the prefix:
#   bin                      roof, roof-make-images
#   include                  roof.h and roof.f90, which mark regions of any program
#   lib/roof/python          the Python package, whose commands read files of other tools
#   lib/roof                 the shared parts; in the archive also the libraries that they need
#   share/roof/configs       plans, spec sheets, counters and rules, to copy and change; those in use are compiled into roof
#   share/doc/roof           documentation, help and pictures
#   share/man, share/bash-completion, share/zsh, share/fish
# Components: `program`; `gpu`, the parts for GPUs; `mpi`, the transport between nodes, which needs an MPI; `libraries`, for the
# archive only.
set(ROOF_LIBRARY_FOLDER lib/roof)

# What is built is what is installed. Else CMake fills the search paths of the build with colons, which it replaces at the installation:
# for the loader an empty element is the current folder, whatever lies in it.
set_target_properties(roof_exe roof-make-images PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
# DT_RPATH, not RUNPATH: it also applies to the libraries of libraries.
set_target_properties(roof_exe PROPERTIES INSTALL_RPATH "$ORIGIN/../${ROOF_LIBRARY_FOLDER}" LINK_OPTIONS -Wl,--disable-new-dtags)
set_target_properties(roof-make-images PROPERTIES INSTALL_RPATH "$ORIGIN/../${ROOF_LIBRARY_FOLDER}")
install(TARGETS roof_exe roof-make-images RUNTIME_DEPENDENCY_SET roof_needed RUNTIME DESTINATION bin COMPONENT program)
set(ROOF_GPU_PLACES "" CACHE STRING "Folders, relative to the GPU parts by $ORIGIN, where NVIDIA's libraries may lie")
add_custom_target(roof_parts)
foreach(part roof_gpu roof_cupti roof_inject roof_cudnn)
  if(TARGET ${part})
    add_dependencies(roof_parts ${part})
    set_target_properties(${part} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN;${ROOF_GPU_PLACES}")
    install(TARGETS ${part} LIBRARY DESTINATION ${ROOF_LIBRARY_FOLDER} COMPONENT gpu)
    set(ROOF_HAS_GPU_PARTS ON)
  endif()
endforeach()
if(TARGET roof_cudnn AND NOT ROOF_GPU_PLACES)
  # cuDNN and cuBLASLt stay where they are: 800 MB outside this tree.
  set_target_properties(roof_cudnn PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()
if(TARGET roof_mpi)
  set_target_properties(roof_mpi PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS roof_mpi LIBRARY DESTINATION ${ROOF_LIBRARY_FOLDER} COMPONENT mpi)
endif()
# The C library must be that of the machine.
install(RUNTIME_DEPENDENCY_SET roof_needed
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv)\\.so"
  LIBRARY DESTINATION ${ROOF_LIBRARY_FOLDER} COMPONENT libraries EXCLUDE_FROM_ALL)
install(CODE "set(PREFIX \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")\ninclude(${PROJECT_SOURCE_DIR}/tools/cmake/licences_now.cmake)"
  COMPONENT libraries EXCLUDE_FROM_ALL)

set(documents share/doc/roof)
install(DIRECTORY configs DESTINATION share/roof COMPONENT program)
install(DIRECTORY docs/ DESTINATION ${documents} COMPONENT program)
install(DIRECTORY tools/roof/help DESTINATION ${documents} COMPONENT program)
install(FILES README.md CHANGELOG.md DESTINATION ${documents} COMPONENT program)
install(DIRECTORY tools/python/roof DESTINATION ${ROOF_LIBRARY_FOLDER}/python COMPONENT program PATTERN __pycache__ EXCLUDE
        PATTERN machines EXCLUDE)  # a link to results/atlas
install(DIRECTORY results/atlas/ DESTINATION ${ROOF_LIBRARY_FOLDER}/python/roof/fleet/machines COMPONENT program)
install(FILES tools/regions/roof.h tools/regions/roof.f90 DESTINATION include COMPONENT program)
install(FILES LICENSE DESTINATION ${documents} COMPONENT program RENAME copyright)

# Manual pages and completion are made by the program that was built.
find_program(ROOF_LOWDOWN lowdown)
if(NOT ROOF_LOWDOWN)
  message(STATUS "no manual pages: lowdown was not found (tools/install_dependencies installs it)")
endif()
set(shared_data ${PROJECT_BINARY_DIR}/share)
file(GLOB help_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/roof/help/*.md)
add_custom_command(
  OUTPUT ${shared_data}/made
  COMMAND ${CMAKE_COMMAND} -DROOF=$<TARGET_FILE:roof_exe> -DLOWDOWN=${ROOF_LOWDOWN} -DVERSION=${PROJECT_VERSION}
          -DHELP=${PROJECT_SOURCE_DIR}/tools/roof/help -DOUTPUT=${shared_data}
          -P ${PROJECT_SOURCE_DIR}/tools/cmake/shared_data_now.cmake
  DEPENDS roof_exe ${help_files} ${PROJECT_SOURCE_DIR}/tools/cmake/shared_data_now.cmake
  VERBATIM)
add_custom_target(roof_shared_data ALL DEPENDS ${shared_data}/made)
install(DIRECTORY ${shared_data}/ DESTINATION share COMPONENT program PATTERN made EXCLUDE)

include(package)
