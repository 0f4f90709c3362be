// SPDX-License-Identifier: Apache-2.0
#include "plugins/space/mask_groups.h"

namespace space {

using namespace engine;

MaskGroups::MaskGroups(TokenId maskToken, std::span<const int> counts) {
    const int candidates = static_cast<int>(counts.size()) - 1;
    for (int group = 0; group <= candidates; ++group) {
        m_firstSides.push_back(static_cast<int>(m_sides.size()));
        int parent = group - 1; // the candidate before the group; -1 = the pending token
        for (int mask = 0; mask < counts[static_cast<std::size_t>(group)]; ++mask) {
            m_sides.push_back({maskToken, parent});
            parent = candidates + static_cast<int>(m_sides.size()) - 1;
        }
    }
    m_firstSides.push_back(static_cast<int>(m_sides.size()));
}

int MaskGroups::maskCount(int group) const {
    const auto at = static_cast<std::size_t>(group);
    return m_firstSides[at + 1] - m_firstSides[at];
}

int MaskGroups::row(int group, int place) const {
    const int candidates = groupCount() - 1;
    return 1 + candidates + m_firstSides[static_cast<std::size_t>(group)] + place;
}

} // namespace space
