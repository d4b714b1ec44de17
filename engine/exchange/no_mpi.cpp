// The MPI functions of communicator.hpp in a build without MPI.
#if !defined(SLUICE_HAVE_MPI)

#include "engine/exchange/communicator.hpp"

namespace sluice {

std::unique_ptr<Communicator> make_mpi(const MpiOptions&) {
  throw UsageError("this build has no MPI: install libopenmpi-dev and openmpi-bin, and build again");
}

std::string mpi_version() {
  return "not built";
}

}  // namespace sluice

#endif
