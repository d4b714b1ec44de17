// Prints parameters in names of tests as options name them. Their bytes would differ between runs because of
// padding.
#pragma once

#include <ostream>

#include "apps/cli/names.hpp"

namespace sluice {

inline void PrintTo(Select select, std::ostream* out) {
  *out << apps::name_of(apps::kSelects, select);
}

inline void PrintTo(Collision collision, std::ostream* out) {
  *out << apps::name_of(apps::kCollisions, collision);
}

inline void PrintTo(const PagingOptions& paging, std::ostream* out) {
  *out << paging.partitions << " partitions, " << paging.slots << " slots, "
       << apps::name_of(apps::kTransports, paging.transport) << ", "
       << (paging.schedule == SchedulePolicy::fifo ? "fifo" : "workload")
       << (paging.batching ? "" : ", one by one");
}

namespace pagerank {

inline void PrintTo(Dangling dangling, std::ostream* out) {
  *out << apps::name_of(apps::kDanglings, dangling);
}

}  // namespace pagerank

namespace io {

inline void PrintTo(GraphKind kind, std::ostream* out) {
  *out << apps::name_of(apps::kGraphKinds, kind);
}

inline void PrintTo(ResultFormat format, std::ostream* out) {
  *out << apps::name_of(apps::kResultFormats, format);
}

}  // namespace io

}  // namespace sluice
