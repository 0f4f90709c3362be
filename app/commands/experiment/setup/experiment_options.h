// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/executors/slurm_options.h"
#include "app/commands/options/model_options.h"
#include "app/data/prompt_source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace app {

/// The options of `experiment`, as typed.
struct ExperimentOptions {
    std::string recipe; ///< a name or a file
    DataOptions data;
    ModelOptions model;
    std::vector<std::string> otherModels; ///< paths; "planted" = the lesson model of the first
    bool isRaw = false;
    std::string size = "quick";
    int prompts = 0;   ///< of each task and stage; 0 = as the size says
    int maxTokens = 0; ///< the same
    int seeds = 0;     ///< the same
    std::uint64_t seed = 1;
    std::string out; ///< the run folder
    bool mayOverwrite = false;
    bool resumes = false;
    bool lists = false;
    bool previews = false;
    bool merges = false;
    std::vector<std::string> compared; ///< two runs
    int shard = -1;                    ///< the only one to run
    std::string executor = "local";    ///< or "slurm"
    SlurmOptions slurm;
    bool followsInput = false; ///< --control stdin
    std::string turns;         ///< file of a TurnLock; empty = none
};

} // namespace app
