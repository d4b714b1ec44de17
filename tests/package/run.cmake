# Installs the build into its own folder, then configures, builds and runs the consumer with that
# installation.
set(prefix ${BINARY_DIR}/package/install)
set(consumer ${BINARY_DIR}/package/consumer)
file(REMOVE_RECURSE ${BINARY_DIR}/package)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(cuda "")
if(CUDA)
  set(ENV{CUDACXX} ${NVCC})
  set(ENV{CUDAARCHS} "${CUDA_ARCHITECTURES}") # there may be several
  set(cuda -D CUDA=ON "-DCMAKE_CUDA_FLAGS=-std=c++20 --expt-relaxed-constexpr --extended-lambda")
endif()

# Uses ccache like the build, since the same sources are compiled many times a day.
find_program(ccache ccache)
if(ccache)
  get_filename_component(root ${SOURCE_DIR}/../.. ABSOLUTE)
  set(ENV{CCACHE_BASEDIR} ${root})
  set(ENV{CCACHE_NOHASHDIR} 1)
  set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} ${ccache})
  set(ENV{CMAKE_CUDA_COMPILER_LAUNCHER} ${ccache})
endif()

run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${consumer} -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${prefix}
  -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_COMPILER=${CXX}
  -D EXAMPLES=${SOURCE_DIR}/../../apps/examples ${cuda})
run(${CMAKE_COMMAND} --build ${consumer})
run(${consumer}/consumer)
run(${consumer}/loader)
run(${consumer}/samplers host)
if(MPIRUN)
  run(${MPIRUN} --allow-run-as-root --oversubscribe -n 2 ${consumer}/samplers host)
endif()
run(${consumer}/samplers cuda) # skipped without a GPU
run(${prefix}/bin/sluice --version)

# Builds and runs the first program of docs/library.md as the page says.
file(READ ${SOURCE_DIR}/../../docs/library.md page)
set(first ${BINARY_DIR}/package/first)
foreach(block "cpp:walk_and_rank.cpp" "cmake:CMakeLists.txt" "sh:graph.sh" "text:expected")
  string(REPLACE ":" ";" block ${block})
  list(GET block 0 language)
  list(GET block 1 name)
  if(NOT page MATCHES "```${language}\n([^`]+)```")
    message(FATAL_ERROR "docs/library.md has no block '${language}'")
  endif()
  file(WRITE ${first}/${name} "${CMAKE_MATCH_1}")
endforeach()
run(${CMAKE_COMMAND} -S ${first} -B ${first}/build -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${prefix}
  -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${first}/build)
set(ENV{PATH} ${prefix}/bin:$ENV{PATH})
run(sh -e graph.sh WORKING_DIRECTORY ${first})
run(${first}/build/walk_and_rank ${first}/small.h5 OUTPUT_FILE ${first}/printed)
run(${CMAKE_COMMAND} -E compare_files ${first}/expected ${first}/printed)
