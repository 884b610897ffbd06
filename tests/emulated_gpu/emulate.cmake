# roof_emulated_kernels(<target> ARCHITECTURE <80, 90a, …> [COMPILED <object library>] SOURCES <file>…) adds to <target> what the kernels of
# these files do on a CPU: nvcc makes PTX of each file, a script makes C++ of the PTX, the compiler makes an object of that. An unknown
# instruction fails the build. Objects of the library that hold PTX of this architecture are not compiled a second time.
set(ROOF_EMULATED_FOLDER ${CMAKE_CURRENT_LIST_DIR})
# Registers change their types, products and sums are not to be merged, and large files are to compile in little time.
set(translated_options -O1 -fno-strict-aliasing -ffp-contract=off -w)
add_library(roof_translated_precompiled OBJECT ${ROOF_PRECOMPILED_STUB})
target_include_directories(roof_translated_precompiled PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(roof_translated_precompiled PRIVATE ${translated_options})
target_precompile_headers(roof_translated_precompiled PRIVATE ${ROOF_EMULATED_FOLDER}/device/translated.hpp)
function(roof_emulated_kernels target)
  cmake_parse_arguments(arg "" "ARCHITECTURE;COMPILED" "SOURCES" ${ARGN})
  set(scripts ${ROOF_EMULATED_FOLDER}/translator)
  set(compiled_for "")
  if(arg_COMPILED)
    get_target_property(compiled_for ${arg_COMPILED} CUDA_ARCHITECTURES)
  endif()
  foreach(source ${arg_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    if(arg_ARCHITECTURE IN_LIST compiled_for OR "${arg_ARCHITECTURE}-virtual" IN_LIST compiled_for)
      set(ptx ${CMAKE_CURRENT_BINARY_DIR}/ptx_of_${target}/${name}.ptx)
      set(object $<FILTER:$<TARGET_OBJECTS:${arg_COMPILED}>,INCLUDE,/${name}\\.cu\\.o$>)
      add_custom_command(OUTPUT ${ptx}
        COMMAND ${Python3_EXECUTABLE} -B ${scripts}/embedded_ptx.py ${object} sm_${arg_ARCHITECTURE} ${ptx}
        DEPENDS ${object} ${scripts}/embedded_ptx.py VERBATIM)
    else()
      set(compiles_ptx roof_ptx_${target}_${name})
      add_library(${compiles_ptx} OBJECT ${source})
      set_target_properties(${compiles_ptx} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES ${arg_ARCHITECTURE}-virtual)
      target_include_directories(${compiles_ptx} PRIVATE ${PROJECT_SOURCE_DIR})
      target_compile_options(${compiles_ptx} PRIVATE --expt-relaxed-constexpr)
      set(ptx $<TARGET_OBJECTS:${compiles_ptx}>)
    endif()
    set(translated ${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}.cpp)
    add_custom_command(OUTPUT ${translated}
      COMMAND ${Python3_EXECUTABLE} -B ${scripts}/translate.py ${ptx} ${translated}
      DEPENDS ${ptx} ${scripts}/translate.py ${scripts}/instructions.py ${scripts}/ptx.py
      COMMENT "Translating the kernels of ${name}.cu" VERBATIM)
    target_sources(${target} PRIVATE ${translated})
    set_source_files_properties(${translated} PROPERTIES COMPILE_OPTIONS "${translated_options}")
  endforeach()
  target_precompile_headers(${target} REUSE_FROM roof_translated_precompiled)
endfunction()
