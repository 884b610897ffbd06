# Run at build time by roof_page_script(): cmake -DNPM=… -DNODE=… -DSOURCES=<folder> -DWORK=<folder> -P page_script_now.cmake
# Fetches the packages of the lock file by their hashes, without install scripts, and bundles them.
file(MAKE_DIRECTORY ${WORK})

# Prints the reason and writes an empty script.
function(give_up reason)
  message(WARNING "the report page will be static: ${reason}")
  file(WRITE ${WORK}/page.js "")
  file(WRITE ${WORK}/page.sha256 "")
endfunction()

if(NOT NPM OR NOT NODE)
  give_up("npm was not found (tools/install_dependencies installs it)")
  return()
endif()

file(SHA256 ${SOURCES}/package-lock.json lock)
set(fetched "")
if(EXISTS ${WORK}/fetched)
  file(READ ${WORK}/fetched fetched)
endif()
if(NOT fetched STREQUAL lock)
  file(COPY ${SOURCES}/package.json ${SOURCES}/package-lock.json DESTINATION ${WORK})
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 --fetch-timeout=60000
                  WORKING_DIRECTORY ${WORK} TIMEOUT 240 RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    give_up("npm could not fetch the packages; remove ${WORK} and build again with a network:\n${said}")
    return()
  endif()
  file(WRITE ${WORK}/fetched ${lock})
endif()

execute_process(COMMAND ${NODE} ${SOURCES}/bundle.mjs ${WORK} RESULT_VARIABLE status ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the report page's script cannot be bundled:\n${said}")
endif()
