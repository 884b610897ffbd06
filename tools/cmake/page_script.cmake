# The report page's script. roof_page_script(<assembly file> <module>…) generates a source that holds its bytes: the modules of
# analysis/report/page in this order, in one function, and their hash for the page's content security policy.
function(roof_page_script output)
  set(sources ${PROJECT_SOURCE_DIR}/analysis/report/page)
  set(work ${CMAKE_CURRENT_BINARY_DIR}/page_script)
  list(TRANSFORM ARGN PREPEND ${sources}/ OUTPUT_VARIABLE modules)
  string(REPLACE ";" "," names "${modules}")
  roof_embed_bytes(${output} page_script ${work}/page.js page_hash ${work}/page.sha256)
  add_custom_command(
    OUTPUT ${work}/page.js ${work}/page.sha256
    COMMAND ${CMAKE_COMMAND} -DMODULES=${names} -DSTYLE=${sources}/page.css -DWORK=${work} -P
            ${PROJECT_SOURCE_DIR}/tools/cmake/page_script_now.cmake
    DEPENDS ${modules} ${sources}/page.css ${PROJECT_SOURCE_DIR}/tools/cmake/page_script_now.cmake
    VERBATIM)
endfunction()
