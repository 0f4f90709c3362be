// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/result/run_origin.h"

#include <nlohmann/json.hpp>

namespace engine {

/// What all results say of the data that they were trained on.
inline nlohmann::ordered_json dataJson(const RunOrigin& origin) {
    auto sources = nlohmann::ordered_json::array();
    for (const DataOrigin& data : origin.dataFiles)
        sources.push_back({{"file", data.file}, {"licence", data.licence}});
    return {{"sources", std::move(sources)},
            {"hash", "xxh3-128"},
            {"shards", origin.shards},
            {"answer_tokens", origin.answerTokens}};
}

} // namespace engine
