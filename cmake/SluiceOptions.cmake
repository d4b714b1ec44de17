# Build type, warnings, sanitizers, compiler cache.
include(GNUInstallDirs)
option(SLUICE_TESTS "build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SLUICE_WERROR "treat warnings as errors" OFF)
option(SLUICE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer on host code" OFF)
option(SLUICE_FUZZ "build the libFuzzer targets of tests/fuzz (needs clang)" OFF)
set(SLUICE_CUDA_MODE AUTO CACHE STRING "AUTO: with CUDA's compiler if there is one; ON; OFF")
set_property(CACHE SLUICE_CUDA_MODE PROPERTY STRINGS AUTO ON OFF)
set(SLUICE_MPI_MODE AUTO CACHE STRING "AUTO: with MPI if it is found; ON; OFF")
set_property(CACHE SLUICE_MPI_MODE PROPERTY STRINGS AUTO ON OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(SLUICE_CCACHE ccache)
if(SLUICE_CCACHE)
  # Paths are relative to this folder, so that clones anywhere share compiled code. Only debug information
  # names the folder, possibly that of another clone. Precompiled headers contain no time and date.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${SLUICE_CCACHE})
  foreach(language C CXX CUDA)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${launcher})
  endforeach()
endif()

# More than half of a file's compile time is spent on the headers that most files include.
option(SLUICE_PRECOMPILE "precompile the headers that most files read" ON)

# sluice_precompile(TARGET HEADER...): precompiles these headers, and common ones of the standard library.
# CUDA compilers do not support this. sluice_precompile(TARGET AS OTHER) reuses those of a target with the
# same options.
function(sluice_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "AS" "")
  if(NOT SLUICE_PRECOMPILE)
    return()
  endif()
  if(arg_AS)
    target_precompile_headers(${target} REUSE_FROM ${arg_AS})
  else()
    set(headers "")
    foreach(header algorithm atomic chrono cmath condition_variable functional map memory mutex numeric optional span
            sstream string thread vector ${arg_UNPARSED_ARGUMENTS})
      list(APPEND headers $<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>)
    endforeach()
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
  # A compiler cache sees the headers only with this option.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endfunction()

add_library(sluice_warnings INTERFACE)
target_compile_options(sluice_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wno-unused-function>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SLUICE_WERROR}>>:-Werror>)

if(SLUICE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined>
    $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all> $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>)
  # Messages of the checks contain two million addresses. At fixed addresses, a program need not relocate them
  # when it starts, which would be a third of the start. Tests start programs some thousand times.
  add_link_options(-fsanitize=address,undefined $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
