# Before CPack packs the archive: what lies in lib/ridge becomes its top.
set(top ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
file(GLOB parts ${top}/lib/ridge/*)
foreach(part ${parts})
  get_filename_component(name ${part} NAME)
  file(RENAME ${part} ${top}/${name})
endforeach()
file(REMOVE_RECURSE ${top}/lib ${top}/bin)
