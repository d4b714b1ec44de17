// Only the headers that are precompiled for all test programs (CMakeLists.txt).
