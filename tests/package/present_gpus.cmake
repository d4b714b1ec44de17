# The architectures of a build, from the output of nvidia-smi and nvcc, which are scripts in this test.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/SluiceGpus.cmake)
file(MAKE_DIRECTORY ${BINARY_DIR}/present_gpus)

function(program name text)
  set(path ${BINARY_DIR}/present_gpus/${name})
  file(WRITE ${path} "#!/bin/sh\n${text}\n")
  file(CHMOD ${path} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(${name} ${path} PARENT_SCOPE)
endfunction()

# expect(ARCHITECTURES WHAT_NVIDIA_SMI_DOES)
function(expect expected smi)
  program(nvidia_smi "${smi}")
  sluice_present_gpus(found "${nvidia_smi}" "${nvcc}")
  if(NOT "${found}" STREQUAL "${expected}")
    message(SEND_ERROR "with '${smi}': built for '${found}' instead of '${expected}'")
  endif()
endfunction()

program(nvcc "printf 'compute_80\\ncompute_86\\ncompute_90\\ncompute_100\\n'")
expect("90" "echo 9.0")
expect("86;90" "printf '8.6\\n9.0\\n8.6\\n'")
expect("100" "echo 10.0")
expect("" "echo 7.5")                  # no kernel can be compiled for it
expect("86" "printf '7.5\\n8.6\\n'")
expect("" "echo 12.0")                 # the compiler does not support it
expect("" "echo 'No devices were found'")
expect("" "echo '[N/A]'")
expect("" "echo 9.0; exit 9")          # its status without a driver
sluice_present_gpus(found "SLUICE_NVIDIA_SMI-NOTFOUND" "${nvcc}")
if(found)
  message(SEND_ERROR "without nvidia-smi: built for '${found}'")
endif()
