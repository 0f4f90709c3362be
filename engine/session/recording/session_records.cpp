// SPDX-License-Identifier: Apache-2.0
#include "engine/session/recording/session_records.h"

#include <vector>

namespace engine {

namespace {

void addBehind(int exitAfterLayer, int layerCount, std::vector<int>& skipped) {
    std::erase_if(skipped, [&](int layer) { return layer > exitAfterLayer; });
    for (int layer = exitAfterLayer + 1; layer < layerCount; ++layer)
        skipped.push_back(layer);
}

} // namespace

SkipSet leftOutBy(const PlanOutline& outline) {
    SkipSet set = outline.skipped;
    if (outline.exitAfterLayer < 0 || outline.exitAfterLayer >= outline.layerCount)
        return set;
    addBehind(outline.exitAfterLayer, outline.layerCount, set.attention);
    addBehind(outline.exitAfterLayer, outline.layerCount, set.mlp);
    return set;
}

} // namespace engine
