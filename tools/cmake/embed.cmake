# Text files compiled into the binary. roof_embed(<out.cpp> FILES <file>…) generates the definition of
# roof::embedded_texts() (tools/roof/binary/embedded.hpp); a text is named by its path from the root of the tree.
function(roof_embed output)
  cmake_parse_arguments(arg "" "" "FILES" ${ARGN})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${PROJECT_SOURCE_DIR} "-DFILES=${arg_FILES}" -P
            ${PROJECT_SOURCE_DIR}/tools/cmake/embed_now.cmake
    DEPENDS ${arg_FILES} ${PROJECT_SOURCE_DIR}/tools/cmake/embed_now.cmake
    VERBATIM)
endfunction()
