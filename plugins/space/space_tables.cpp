// SPDX-License-Identifier: Apache-2.0
#include "plugins/space/space_tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace space {

using namespace engine;

StepTable groupTable(const Target& target, const MaskGroups& groups, int used) {
    StepTable table{.name = "groups",
                    .title = "Mask groups",
                    .columns = {"group", "behind"},
                    .rows = {},
                    .chosenRow = -1};
    int most = 0;
    for (int group = 0; group < groups.groupCount(); ++group)
        most = std::max(most, groups.maskCount(group));
    for (int mask = 1; mask <= most; ++mask)
        table.columns.push_back(fmt::format("mask {}", mask));
    for (int group = 0; group < groups.groupCount(); ++group) {
        if (groups.maskCount(group) == 0)
            continue;
        if (group == used)
            table.chosenRow = static_cast<int>(table.rows.size());
        std::vector<TableCell> cells = {static_cast<double>(group),
                                        TokenCell{target.seenRow(group).token}};
        for (int mask = 0; mask < groups.maskCount(group); ++mask)
            cells.emplace_back(TokenCell{target.seenRow(groups.row(group, mask)).summary.best()});
        table.rows.push_back(std::move(cells));
    }
    return table;
}

StepTable candidateTable(const std::vector<Candidate>& candidates, const PlaceRates& rates) {
    StepTable table{.name = "candidates",
                    .title = "Next candidates",
                    .columns = {"place", "token", "probability", "accepted so far"},
                    .rows = {},
                    .chosenRow = -1};
    for (const Candidate& candidate : candidates) {
        const int place = static_cast<int>(table.rows.size()) + 1;
        table.rows.push_back({static_cast<double>(place),
                              TokenCell{candidate.token},
                              candidate.probability,
                              rates.rate(place)});
    }
    return table;
}

} // namespace space
