# The report page's script, bundled with npm and esbuild. roof_page_script(<assembly file>) generates a source that holds its
# bytes. Without npm or a network, the script is empty, the page is static, and the build continues.
find_program(ROOF_NPM npm)
find_program(ROOF_NODE NAMES node nodejs)

function(roof_page_script output)
  set(sources ${PROJECT_SOURCE_DIR}/analysis/report/page)
  set(work ${CMAKE_CURRENT_BINARY_DIR}/page_script)
  file(GLOB modules CONFIGURE_DEPENDS ${sources}/*.js ${sources}/*.mjs ${sources}/*.css ${sources}/*.json)
  roof_embed_bytes(${output} page_script ${work}/page.js page_hash ${work}/page.sha256)
  add_custom_command(
    OUTPUT ${work}/page.js ${work}/page.sha256
    COMMAND ${CMAKE_COMMAND} -DNPM=${ROOF_NPM} -DNODE=${ROOF_NODE} -DSOURCES=${sources} -DWORK=${work} -P
            ${PROJECT_SOURCE_DIR}/tools/cmake/page_script_now.cmake
    DEPENDS ${modules} ${PROJECT_SOURCE_DIR}/tools/cmake/page_script_now.cmake
    VERBATIM)
endfunction()
