# Install tree and the exported CMake package: find_package(sluice), then link sluice::sluice.
