// The files of a job, told apart by what they are: names, links and folders may lead to one file by many
// ways.
#pragma once

#include <vector>

#include "apps/command_line.hpp"

namespace sluice::apps {

/// Throws UsageError where a file that is written is another file of the job as well, or a folder that holds
/// one: --force would cost the user the one or the other.
void refuse_one_file_twice(const std::vector<NamedFile>& files);

}  // namespace sluice::apps
