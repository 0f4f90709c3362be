// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/choice/exit_policy.h"

namespace del {

using namespace engine;

namespace {

constexpr std::size_t kMostTableRows = 40;

} // namespace

StepTable exitTable(std::span<const ExitOffer> offers, std::span<const ExitColumn> columns) {
    StepTable table;
    table.name = "exits";
    table.title = "Exits";
    table.columns = {"exit after"};
    for (const ExitColumn& column : columns)
        table.columns.push_back(column.heading);
    const std::size_t stride = (offers.size() + kMostTableRows - 1) / kMostTableRows;
    for (std::size_t i = 0; i < offers.size(); i += stride) {
        std::vector<TableCell> row = {static_cast<double>(offers[i].exit)};
        for (const ExitColumn& column : columns)
            row.emplace_back(column.cell(offers[i]));
        table.rows.push_back(std::move(row));
    }
    return table;
}

int rowOfExit(const StepTable& table, int exit) {
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        if (table.rows[i].front() == TableCell(static_cast<double>(exit)))
            return static_cast<int>(i);
    return -1;
}

} // namespace del
