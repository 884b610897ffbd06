# Run when the component `libraries` is installed, with PREFIX set: copies the licence of every library in lib/roof that a Debian
# package brought.
file(GLOB libraries ${PREFIX}/lib/roof/*.so.*)
foreach(library IN LISTS libraries)
  get_filename_component(name ${library} NAME)
  execute_process(COMMAND dpkg-query --search */${name} OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0 AND owner MATCHES "^([^:]+):")
    set(package ${CMAKE_MATCH_1})
    file(COPY_FILE /usr/share/doc/${package}/copyright ${PREFIX}/lib/roof/${package}.copyright)
  else()
    message(WARNING "${name} comes from no Debian package: its licence is not in the archive")
  endif()
endforeach()
