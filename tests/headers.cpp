// Nothing but what is precompiled for all test programs (CMakeLists.txt).
