# Run at every build: cmake -DSOURCE=<tree> -DROOF_VERSION=<x.y.z> -DTEMPLATE=<in> -DFILE=<out> -P version.cmake
# The file is only touched when its text changes.
set(ROOF_REVISION "unknown")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} describe --always --abbrev=12 --exclude=* --dirty WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(ROOF_REVISION ${described})
  endif()
endif()
configure_file(${TEMPLATE} ${FILE} @ONLY)
