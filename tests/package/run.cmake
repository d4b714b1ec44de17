# Installs the build into itself, then configures, builds and runs the consumer against that installation.
set(prefix ${BINARY_DIR}/package/install)
set(consumer ${BINARY_DIR}/package/consumer)
file(REMOVE_RECURSE ${BINARY_DIR}/package)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(cuda "")
if(CUDA)
  set(ENV{CUDACXX} ${NVCC})
  set(ENV{CUDAARCHS} "${CUDA_ARCHITECTURES}") # perhaps several
  set(cuda -D CUDA=ON "-DCMAKE_CUDA_FLAGS=-std=c++20 --expt-relaxed-constexpr --extended-lambda")
endif()

# As the build itself does: the same sources are compiled many times a day.
find_program(ccache ccache)
if(ccache)
  get_filename_component(root ${SOURCE_DIR}/../.. ABSOLUTE)
  set(ENV{CCACHE_BASEDIR} ${root})
  set(ENV{CCACHE_NOHASHDIR} 1)
  set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} ${ccache})
  set(ENV{CMAKE_CUDA_COMPILER_LAUNCHER} ${ccache})
endif()

file(READ ${SOURCE_DIR}/../../docs/library.md page)
if(NOT page MATCHES "```cmake\n([^`]+)```")
  message(FATAL_ERROR "docs/library.md has no block of CMake")
endif()
file(WRITE ${BINARY_DIR}/package/page.cmake "${CMAKE_MATCH_1}")

run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${consumer} -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${prefix}
  -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_COMPILER=${CXX}
  -D PAGE_LINES=${BINARY_DIR}/package/page.cmake -D EXAMPLES=${SOURCE_DIR}/../../apps/examples ${cuda})
run(${CMAKE_COMMAND} --build ${consumer})
run(${consumer}/mine)
run(${consumer}/loader)
run(${consumer}/samplers host)
if(MPIRUN)
  run(${MPIRUN} --allow-run-as-root --oversubscribe -n 2 ${consumer}/samplers host)
endif()
run(${consumer}/samplers cuda) # says skipped where there is no GPU
run(${prefix}/bin/sluice --version)
