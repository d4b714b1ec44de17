// The files of a job, identified by device and inode: different names and links may lead to the same file.
#pragma once

#include <vector>

#include "apps/cli/command_line.hpp"

namespace sluice::apps {

/// Throws UsageError if an output file is also another file of the job, or a folder that holds one: with
/// --force, the job would overwrite that file.
void refuse_file_conflicts(const std::vector<NamedFile>& files);

/// Throws, as io::OutputFile does, if the name of an output file is taken or cannot be replaced.
void require_free_names(const std::vector<NamedFile>& files, bool force);

}  // namespace sluice::apps
