// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/adaptation/search_settings.h"
#include "engine/adaptation/stream_start.h"
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/search/skip_choices.h"

#include <string>
#include <vector>

namespace engine {

/// A plan to begin a search with, and the ratio it was made for.
struct StartPlan {
    LayerPlan plan;
    double ratio = 0.0;
    std::string note = {};        ///< for the user, when it is not what was asked for
    std::string ratioReason = {}; ///< sentence: why `ratio` may differ from the r asked for
};

/// Errors: InvalidInput for a manual set that is used and names a layer that the model does not
/// have, or one of the two that always run.
Result<void> checkManualSet(const SearchSettings& settings, int layerCount);

/// Errors: InvalidInput if a stored set is asked for, none is stored, and none is searched for: the
/// task would have no set. A memory that cannot be read is no such error.
Result<void> checkStoredSet(const SearchSettings& settings,
                            const SkipSetMemory* memory,
                            const std::string& task);

/// The start sets that the settings can name. All members are guests.
class StartSets {
public:
    StartSets(const SkipChoices& choices, const SearchSettings& settings)
        : m_choices(choices)
        , m_settings(settings) {}

    /// The one that the settings name. Errors: InvalidInput for a manual set of another model; a
    /// broken memory gives the uniform set and a note, so that decoding goes on; so does a `stream`
    /// that plans nothing or fails. Cancelled by `stream`.
    Result<StartPlan> start(const std::vector<double>& influence,
                            const SkipSetMemory* memory,
                            const std::string& task,
                            const StreamPlanner& stream = {}) const;

private:
    StartPlan stored(const SkipSetMemory* memory, const std::string& task) const;
    Result<StartPlan> planned(const StreamPlanner& stream) const;
    StartPlan uniform(std::string note = {}) const;

    const SkipChoices& m_choices;
    const SearchSettings& m_settings;
};

} // namespace engine
