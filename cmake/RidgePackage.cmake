# What `cmake --install` puts together and CPack packs: a Ridge that needs no build, in lib/ridge, and the command bin/ridge. It
# has the layout of a built clone, so that the program finds its parts as it does there, wherever the folder lies.
#
#   lib/ridge/ridge, README.md, labs/, runtime/, docs/, cluster/   of the copy that students get (`ridge course export`)
#   lib/ridge/build/.ridge-prebuilt                                tells the launcher and the program that nothing is built here
#   lib/ridge/build/bin, build/lib                                 the programs, what judged programs are linked with, checks
#
# Parts that are asked for by name: solutions, and cluster, live, mpi, serve, viz (a program each). `ridge package` does that.
set(place lib/ridge)
install(CODE "execute_process(COMMAND $<TARGET_FILE:ridge> package tree \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${place}\"
                              COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ridge)
install(DIRECTORY solutions DESTINATION ${place} COMPONENT solutions EXCLUDE_FROM_ALL OPTIONAL)

install(TARGETS ridge ridge-sandbox-exec ridge-null-worker RUNTIME DESTINATION ${place}/build/bin COMPONENT ridge)
if(ridge_check_modules)
  install(TARGETS ${ridge_check_modules} LIBRARY DESTINATION ${place}/build/lib/labs COMPONENT ridge)
endif()
install(FILES $<TARGET_FILE:fmt::fmt> RENAME $<TARGET_SONAME_FILE_NAME:fmt::fmt> DESTINATION ${place}/build/lib COMPONENT ridge)
set(linked ridge_worker_sealed.o libridge_simt.a libridge_driver.a libridge_dynamic.a libridge_collectives.a libridge_worker.a)
if(TARGET ridge_fft)
  list(APPEND linked libridge_fft.a)
endif()
if(TARGET ridge_blas)
  list(APPEND linked libridge_solver.a libridge_blas.a)
endif()
foreach(file ${linked} ridge_worker_sealed.imports)
  install(FILES ${CMAKE_BINARY_DIR}/lib/${file} DESTINATION ${place}/build/lib COMPONENT ridge)
endforeach()
foreach(file ${linked}) # a build with -g would tell its own folders
  install(CODE "execute_process(COMMAND ${CMAKE_OBJCOPY} --strip-debug
                                        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${place}/build/lib/${file}\"
                                COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ridge)
endforeach()
install(DIRECTORY ${CMAKE_BINARY_DIR}/toolkit DESTINATION ${place}/build COMPONENT ridge) # links, all relative
foreach(part "cluster ridge-unpack" "live ridge-live" "mpi ridge-agent" "serve ridge-serve" "viz ridge-viz")
  separate_arguments(part)
  list(POP_FRONT part name program)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${place}/build/bin COMPONENT ${name} EXCLUDE_FROM_ALL)
  endif()
endforeach()
if(TARGET ridge-serve)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/serve DESTINATION ${place}/build/share COMPONENT serve EXCLUDE_FROM_ALL)
endif()
install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin\")
  file(CREATE_LINK ../${place}/ridge \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/ridge\" SYMBOLIC)" COMPONENT ridge)

# The licences of the libraries that travel in it.
foreach(library fmt nlohmann-json3 toml libcli11 seccomp sodium sqlite3)
  file(GLOB folders /usr/share/doc/*${library}*)
  foreach(folder ${folders})
    get_filename_component(name ${folder} NAME)
    if(name MATCHES "${library}.*dev$" AND EXISTS ${folder}/copyright)
      install(FILES ${folder}/copyright RENAME ${name} DESTINATION ${place}/build/licenses COMPONENT ridge)
    endif()
  endforeach()
endforeach()

add_custom_target(ridge_package DEPENDS ridge_group_core ridge_group_class ${ridge_check_modules})

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME ridge)
set(CPACK_PACKAGE_CONTACT "The instructor of this course")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Teaching lab for high-performance computing for AI")
set(CPACK_PACKAGE_DESCRIPTION
    "Exercises in CUDA C++, and the grader that judges them: by exact counts on an emulator of GPUs, and by ratios to the
vendor's libraries on real ones. `ridge start 01` makes a copy of the first lab in ~/ridge-work.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME ridge-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES TRUE)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};ridge;ridge;/")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_format.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "binutils, clang | g++")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "bubblewrap, clang")
# The libraries' versions that this build needs, as Debian's own tool finds them, else this machine's.
find_program(RIDGE_SHLIBDEPS dpkg-shlibdeps)
find_program(RIDGE_FILE file)
if(RIDGE_SHLIBDEPS AND RIDGE_FILE)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib) # libfmt travels
else()
  execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE glibc OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX MATCH "[0-9]+[.][0-9]+" glibc "${glibc}")
  string(REGEX MATCH "^[0-9]+" gcc "${CMAKE_CXX_COMPILER_VERSION}")
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libc6 (>= ${glibc}), libstdc++6 (>= ${gcc})")
endif()
include(CPack)
