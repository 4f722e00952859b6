# Settings shared by every target, and the search for optional parts.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH "$ORIGIN/../lib")
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
set_property(GLOBAL PROPERTY JOB_POOLS link=1)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG") # -O3 costs a third more build time here and gains nothing

find_program(RIDGE_CCACHE ccache)
if(RIDGE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RIDGE_CCACHE})
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

# Our own code links ridge_options: warnings, and sanitizers where they are on. What ends up in students' programs (the
# emulator, the worker) links ridge_in_programs. Third-party headers come in as SYSTEM.
add_library(ridge_warnings INTERFACE)
add_library(ridge_options INTERFACE)
target_link_libraries(ridge_options INTERFACE ridge_warnings)
# The emulator and the worker besides. Judged programs are position-independent on every machine. Their fibers switch
# stacks, which a shadow stack (CET) forbids: the C library gives one to programs whose every object asks for it, as all
# that Ubuntu's GCC compiles do, and these do not. A switch of fibers writes below the stack pointer, where a leaf function
# might keep variables: -mno-red-zone forbids that.
add_library(ridge_in_programs INTERFACE)
target_link_libraries(ridge_in_programs INTERFACE ridge_warnings)
include(CheckCXXCompilerFlag)
foreach(flag -fPIE -fno-lto -fcf-protection=none -mno-red-zone)
  string(MAKE_C_IDENTIFIER "RIDGE_TAKES${flag}" takes)
  check_cxx_compiler_flag(${flag} ${takes})
  if(${takes})
    target_compile_options(ridge_in_programs INTERFACE ${flag})
  endif()
endforeach()
target_compile_options(ridge_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(ridge_warnings INTERFACE -Wno-restrict) # false alarms in std::string, GCC bug 105651
endif()
if(RIDGE_SANITIZE)
  target_compile_options(ridge_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                                 -fno-omit-frame-pointer)
  target_link_options(ridge_options INTERFACE -fsanitize=address,undefined)
endif()

# ridge_unity(<targets>...): their sources share what they include, eight at a time. Names of unnamed namespaces are
# therefore different within a target.
function(ridge_unity)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ${RIDGE_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# ridge_optional(<VIZ|MPI|...> <found> <what is missing>): sets RIDGE_HAVE_<part>, or stops where the user insisted.
function(ridge_optional part found missing)
  set(mode ${RIDGE_${part}})
  set(have FALSE)
  if(NOT mode STREQUAL "OFF" AND found)
    set(have TRUE)
  elseif(mode STREQUAL "ON")
    message(FATAL_ERROR "RIDGE_${part}=ON, but ${missing} was not found")
  endif()
  set(RIDGE_HAVE_${part} ${have} PARENT_SCOPE)
  if(have)
    message(STATUS "Ridge part ${part}: yes")
  elseif(mode STREQUAL "OFF")
    message(STATUS "Ridge part ${part}: no (switched off)")
  else()
    message(STATUS "Ridge part ${part}: no (${missing} not found)")
  endif()
endfunction()

# ridge_header_version(<variable> <header> <prefix> <names>...): "4.1.4" of its #defines <prefix><name>, or nothing.
function(ridge_header_version variable header prefix)
  set(version "")
  if(header AND EXISTS ${header})
    foreach(name ${ARGN})
      file(STRINGS ${header} line REGEX "^#define +${prefix}${name} +[0-9]+" LIMIT_COUNT 1)
      if(line)
        string(REGEX REPLACE "^#define +[A-Z_]+ +([0-9]+).*" "\\1" number "${line}")
        list(APPEND version ${number})
      endif()
    endforeach()
  endif()
  list(JOIN version "." version)
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

# Inputs and references of measured cases are gigabytes: vector code, without what stops it.
set(RIDGE_CHECK_OPTIONS "$<$<CONFIG:Release>:-O3>;-fno-math-errno;-fno-trapping-math;-fopenmp-simd")

# ridge_check_module(<lab> <folder>): the folder's check.cpp and check/*.cpp as the module that the judge loads.
function(ridge_check_module lab folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/check.cpp ${folder}/check/*.cpp)
  if(NOT sources) # a lab that is being written
    return()
  endif()
  add_library(check_${lab} MODULE ${sources})
  set_target_properties(check_${lab} PROPERTIES PREFIX "" OUTPUT_NAME ${lab} BUILD_RPATH "$ORIGIN/.." INSTALL_RPATH "$ORIGIN/.."
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/labs)
  target_compile_options(check_${lab} PRIVATE ${RIDGE_CHECK_OPTIONS})
  target_include_directories(check_${lab} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime)
  target_link_libraries(check_${lab} PRIVATE ridge_options ridge_network ridge_files_model fmt::fmt) # only what a check calls
endfunction()
