// SPDX-License-Identifier: Apache-2.0
#include "plugins/lookahead/lookahead_tables.h"

#include <algorithm>
#include <string>

namespace lookahead {

using namespace engine;

namespace {

constexpr std::size_t kMostTableRows = 40;

void addCells(std::vector<TableCell>& row, std::span<const TokenId> tokens) {
    for (const TokenId token : tokens)
        row.emplace_back(TokenCell{token});
}

/// Tokens of a candidate that were accepted.
std::size_t acceptedOf(const Ngram& candidate, const DecodeStep& step) {
    std::size_t length = 0;
    while (length < std::min(candidate.size(), step.path.size()) &&
           candidate[length] == step.tokens[length])
        ++length;
    return length;
}

} // namespace

StepTable windowTable(const GuessWindow& window, TokenId pending, std::span<const TokenId> next) {
    StepTable table{.name = "window", .title = "Window", .columns = {"Row"}, .rows = {}};
    for (int column = 0; column < window.columns(); ++column)
        table.columns.push_back(std::to_string(column));
    for (const Ngram& tokens : window.rows()) {
        std::vector<TableCell> row = {std::to_string(table.rows.size())};
        if (table.rows.empty())
            row.emplace_back(TokenCell{pending});
        addCells(row, tokens);
        table.rows.push_back(std::move(row));
    }
    std::vector<TableCell> newest = {std::string("new")};
    addCells(newest, next);
    table.rows.push_back(std::move(newest));
    return table;
}

StepTable poolTable(TokenId pending, std::span<const Ngram> candidates, const DecodeStep& step) {
    StepTable table{.name = "pool", .title = "N-grams", .columns = {"First"}, .rows = {}};
    std::size_t most = 0;
    for (const Ngram& candidate : candidates) {
        if (const std::size_t accepted = acceptedOf(candidate, step); accepted > most) {
            most = accepted;
            table.chosenRow = static_cast<int>(table.rows.size());
        }
        while (table.columns.size() <= candidate.size())
            table.columns.push_back(std::to_string(table.columns.size()));
        std::vector<TableCell> row = {TokenCell{pending}};
        addCells(row, candidate);
        table.rows.push_back(std::move(row));
    }
    table.rows.resize(std::min(table.rows.size(), kMostTableRows));
    if (table.chosenRow >= static_cast<int>(table.rows.size()))
        table.chosenRow = -1;
    return table;
}

} // namespace lookahead
