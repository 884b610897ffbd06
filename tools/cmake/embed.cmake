# Text files compiled into the binary. roof_embed(<out.cpp> FILES <file>…) generates the definition of
# roof::embedded_texts() (tools/roof/binary/binary.hpp); a text is named by its path from the root of the tree.
function(roof_embed output)
  cmake_parse_arguments(arg "" "" "FILES" ${ARGN})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${PROJECT_SOURCE_DIR} "-DFILES=${arg_FILES}" -P
            ${PROJECT_SOURCE_DIR}/tools/cmake/embed_now.cmake
    DEPENDS ${arg_FILES} ${PROJECT_SOURCE_DIR}/tools/cmake/embed_now.cmake
    VERBATIM)
endfunction()

# roof_embed_bytes(<assembly file> <name> <file> [<name> <file>…]): generates a source that holds the bytes of each file between the
# symbols roof_<name>_begin and roof_<name>_end.
enable_language(ASM)
function(roof_embed_bytes output)
  set(pairs ${ARGN})
  set(text ".section .rodata\n")
  set(files "")
  while(pairs)
    list(POP_FRONT pairs name file)
    list(APPEND files ${file})
    string(APPEND text ".global roof_${name}_begin, roof_${name}_end\n.hidden roof_${name}_begin, roof_${name}_end\n"
           "roof_${name}_begin: .incbin \"${file}\"\nroof_${name}_end: .byte 0\n")
  endwhile()
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}.section .note.GNU-stack,\"\",%progbits\n" @ONLY)
  set_source_files_properties(${output} PROPERTIES OBJECT_DEPENDS "${files}")
endfunction()
