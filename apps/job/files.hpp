// The files of a job, distinguished by what they are: names, links and folders may lead to one file by many
// ways.
#pragma once

#include <vector>

#include "apps/cli/command_line.hpp"

namespace sluice::apps {

/// Throws UsageError where a file that is written is another file of the job as well, or a folder that holds
/// one: --force would cost the user the one or the other.
void refuse_one_file_twice(const std::vector<NamedFile>& files);

/// Throws as io::OutputFile does where the name of one that is written is taken, or cannot be replaced.
void require_free_names(const std::vector<NamedFile>& files, bool force);

}  // namespace sluice::apps
