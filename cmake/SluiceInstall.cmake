# Install tree and the exported CMake package: find_package(sluice), then link sluice::sluice.
include(CMakePackageConfigHelpers)
set(SLUICE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)

# sluice is static, so the consumer's linker needs its private libraries, and their targets are exported, too.
if(SLUICE_MPI)
  set(SLUICE_MPI_TARGET sluice_mpi)
endif()
install(TARGETS sluice sluice_hdf5 ${SLUICE_MPI_TARGET} sluice_warnings EXPORT sluiceTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS sluice_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS sluice_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)  # if it was built

# Headers keep their folders, so that #include "engine/sampling/run.hpp" works in both trees.
install(DIRECTORY engine partition io DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")

install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION ${SLUICE_PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sluiceConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/sluiceConfig.cmake INSTALL_DESTINATION ${SLUICE_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sluiceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sluiceConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/sluiceConfigVersion.cmake
  DESTINATION ${SLUICE_PACKAGE_DIR})

# The installation has tests, too: a project outside the tree finds, links and runs it. They do not run under
# sanitizers, since tests/examples runs the same samplers.
if(SLUICE_TESTS AND NOT SLUICE_SANITIZE)
  enable_testing()
  add_test(NAME package.consumer COMMAND ${CMAKE_COMMAND}
    -D BINARY_DIR=${CMAKE_BINARY_DIR} -D SOURCE_DIR=${CMAKE_CURRENT_SOURCE_DIR}/tests/package
    -D GENERATOR=${CMAKE_GENERATOR} -D BUILD_TYPE=${CMAKE_BUILD_TYPE} -D CXX=${CMAKE_CXX_COMPILER}
    -D CUDA=${SLUICE_CUDA} -D NVCC=${CMAKE_CUDA_COMPILER}
    "-DCUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES}" -D MPIRUN=${MPIEXEC_EXECUTABLE}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/tests/package/run.cmake)
  set_tests_properties(package.consumer PROPERTIES LABELS unit TIMEOUT 900)
  add_test(NAME package.present_gpus COMMAND ${CMAKE_COMMAND} -D BINARY_DIR=${CMAKE_BINARY_DIR}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/tests/package/present_gpus.cmake)
  set_tests_properties(package.present_gpus PROPERTIES LABELS unit)
endif()
