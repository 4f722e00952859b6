# Read by CPack for each format. The archive's top is Ridge's own folder; the package's is /usr.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  if(CPACK_INSTALL_CMAKE_PROJECTS MATCHES ";mpi;") # its library is found by itself, mpirun is not
    string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", openmpi-bin")
  endif()
else()
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_top.cmake)
endif()
