# roof_emulated_kernels(<target> ARCHITECTURE <80, 90a, …> SOURCES <file>…) adds to <target> what the kernels of these files do on a CPU:
# nvcc makes PTX of each file, a script makes C++ of the PTX, the compiler makes an object of that. An unknown instruction fails the build.
set(ROOF_EMULATED_FOLDER ${CMAKE_CURRENT_LIST_DIR})
function(roof_emulated_kernels target)
  cmake_parse_arguments(arg "" "ARCHITECTURE" "SOURCES" ${ARGN})
  set(scripts ${ROOF_EMULATED_FOLDER}/translator)
  foreach(source ${arg_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    set(ptx roof_ptx_${target}_${name})
    add_library(${ptx} OBJECT ${source})
    set_target_properties(${ptx} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES ${arg_ARCHITECTURE}-virtual)
    target_include_directories(${ptx} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(${ptx} PRIVATE --expt-relaxed-constexpr)
    set(translated ${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}.cpp)
    add_custom_command(OUTPUT ${translated}
      COMMAND ${Python3_EXECUTABLE} -B ${scripts}/translate.py $<TARGET_OBJECTS:${ptx}> ${translated}
      DEPENDS ${ptx} $<TARGET_OBJECTS:${ptx}> ${scripts}/translate.py ${scripts}/instructions.py ${scripts}/ptx.py
      COMMENT "Translating the kernels of ${name}.cu" VERBATIM)
    target_sources(${target} PRIVATE ${translated})
    # Registers change their types, products and sums are not to be merged, and large files are to compile in little time.
    set_source_files_properties(${translated} PROPERTIES COMPILE_OPTIONS "-O1;-fno-strict-aliasing;-ffp-contract=off;-w"
      SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()
