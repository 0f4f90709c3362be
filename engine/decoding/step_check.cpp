// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/step_check.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace engine {

namespace {

/// Rounding may lift a probability above 1 by as much.
constexpr double kRounding = 1e-6;

void checkProbability(double value, std::string_view whose) {
    ENGINE_CHECK(
        value >= 0.0 && value <= 1.0 + kRounding, "{} has the probability {}", whose, value);
}

/// What can be summed up: milliseconds, layers.
void checkAmount(double value, std::string_view what) {
    ENGINE_CHECK(std::isfinite(value) && value >= 0.0, "{} is {}", what, value);
}

/// Shortens a text to a number of bytes, by whole characters of UTF-8.
bool cutText(std::string& text, std::size_t mostBytes) {
    if (text.size() <= mostBytes)
        return false;
    std::size_t end = mostBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    text.resize(end);
    return true;
}

template <typename T> bool cutList(std::vector<T>& list, std::size_t most) {
    const bool isTooLong = list.size() > most;
    if (isTooLong)
        list.resize(most);
    return isTooLong;
}

/// Whether something had to go.
bool cutTable(StepTable& table) {
    bool isCut = cutText(table.name, StepCheck::kMostTextBytes);
    isCut |= cutText(table.title, StepCheck::kMostTextBytes);
    isCut |= cutList(table.columns, StepCheck::kMostColumns);
    isCut |= cutList(table.rows, StepCheck::kMostTableRows);
    for (std::string& column : table.columns)
        isCut |= cutText(column, StepCheck::kMostTextBytes);
    for (auto& row : table.rows) {
        isCut |= cutList(row, StepCheck::kMostColumns);
        for (TableCell& cell : row)
            if (auto* words = std::get_if<std::string>(&cell))
                isCut |= cutText(*words, StepCheck::kMostTextBytes);
    }
    if (table.chosenRow >= static_cast<int>(table.rows.size()))
        table.chosenRow = -1;
    return isCut;
}

} // namespace

void StepCheck::begin(const Prompt& prompt) {
    m_remainingTokens = prompt.maxTokens;
    m_endIds.assign(prompt.endIds.begin(), prompt.endIds.end());
}

void StepCheck::passStep(DecodeStep& step) {
    checkTokens(step);
    checkDraft(step);
    checkPath(step);
    checkSides(step);
    for (const StepTable& table : step.tables)
        checkTable(table);
    checkAmount(step.draftMs, "the time of drafting in milliseconds");
    checkAmount(step.promptMs, "the time of the prompt in milliseconds");
    checkAmount(step.verifyMs, "the time of verifying in milliseconds");
    checkAmount(step.draftLayers, "the number of layers that drafting read");
    checkAmount(step.verifyLayers, "the number of layers that verifying read");
    ENGINE_CHECK(step.verifiedRows >= 0, "{} rows were verified", step.verifiedRows);
    passReport(step.search);
    limitTables(step);
    m_remainingTokens -= static_cast<int>(step.tokens.size());
}

void StepCheck::passReport(const SearchReport& report) const {
    checkAmount(report.searchMs, "the time of searching in milliseconds");
    for (const PlanChange& change : report.planChanges)
        checkPlan(change.plan);
    for (const TrialRecord& trial : report.trials) {
        checkPlan(trial.plan);
        checkAmount(trial.score, "the score of a trial");
        checkAmount(trial.best, "the best score of a search");
    }
}

void StepCheck::checkTokens(const DecodeStep& step) const {
    const std::size_t count = step.tokens.size();
    ENGINE_CHECK(count > 0 && step.facts.size() == count,
                 "a step of {} tokens with {} facts",
                 count,
                 step.facts.size());
    ENGINE_CHECK(m_remainingTokens >= 0 && count <= static_cast<std::size_t>(m_remainingTokens),
                 "a step of {} tokens where the answer takes {} more",
                 count,
                 m_remainingTokens);
    for (std::size_t i = 0; i < count; ++i) {
        checkToken(step.tokens[i], "the token");
        checkProbability(step.facts[i].draftProbability, "an emitted token");
        checkProbability(step.facts[i].targetProbability, "an emitted token");
        ENGINE_CHECK(i + 1 == count ||
                         std::find(m_endIds.begin(), m_endIds.end(), step.tokens[i]) ==
                             m_endIds.end(),
                     "tokens behind the end of the answer");
    }
}

/// Parents come before their children: DraftTree::add sees to that.
void StepCheck::checkDraft(const DecodeStep& step) const {
    ENGINE_CHECK(step.draft.size() <= kMostRows, "a draft of {} tokens", step.draft.size());
    for (const DraftNode& node : step.draft.nodes()) {
        const TokenId before = node.parent < 0 ? kNoToken : step.draft.node(node.parent).token;
        ENGINE_CHECK(std::find(m_endIds.begin(), m_endIds.end(), before) == m_endIds.end(),
                     "the token {} was drafted behind the end of the answer",
                     node.token);
        checkToken(node.token, "the drafted token");
        checkProbability(node.probability, "a drafted token");
    }
    for (const double confidence : step.draft.confidences())
        checkProbability(confidence, "a first choice of the draft");
}

/// What counts as accepted was drafted, each behind the one before, and is what came out.
void StepCheck::checkPath(const DecodeStep& step) const {
    const std::size_t count = step.tokens.size();
    ENGINE_CHECK(
        step.path.size() <= count, "a path of {} nodes for {} tokens", step.path.size(), count);
    int before = -1;
    for (std::size_t i = 0; i < step.path.size(); ++i) {
        const int index = step.path[i];
        ENGINE_CHECK(index >= 0 && index < step.draft.size(),
                     "the node {} is accepted of a draft of {}",
                     index,
                     step.draft.size());
        const DraftNode& node = step.draft.node(index);
        ENGINE_CHECK(node.parent == before,
                     "the node {} is accepted behind {}, but was drafted behind {}",
                     index,
                     before,
                     node.parent);
        ENGINE_CHECK(node.token == step.tokens[i],
                     "the drafted token {} is accepted, but {} came out",
                     node.token,
                     step.tokens[i]);
        before = index;
    }
}

void StepCheck::checkSides(const DecodeStep& step) const {
    ENGINE_CHECK(step.sides.size() <= kMostRows, "{} rows beside the draft", step.sides.size());
    for (std::size_t i = 0; i < step.sides.size(); ++i) {
        const SideRow& side = step.sides[i];
        checkToken(side.token, "the token beside the draft");
        ENGINE_CHECK(side.parent >= -1 && side.parent < step.draft.size() + static_cast<int>(i),
                     "row {} beside a draft of {} hangs on {}",
                     i,
                     step.draft.size(),
                     side.parent);
    }
}

void StepCheck::checkTable(const StepTable& table) const {
    for (const auto& row : table.rows) {
        ENGINE_CHECK(row.size() <= table.columns.size(),
                     "a row of {} cells in the table {} of {} columns",
                     row.size(),
                     table.name,
                     table.columns.size());
        for (const TableCell& cell : row) {
            const auto* shown = std::get_if<TokenCell>(&cell);
            if (shown != nullptr && shown->token != kNoToken)
                checkToken(shown->token, "the token in a table");
        }
    }
    ENGINE_CHECK(table.chosenRow >= -1 && table.chosenRow < static_cast<int>(table.rows.size()),
                 "row {} is chosen of the table {} of {} rows",
                 table.chosenRow,
                 table.name,
                 table.rows.size());
}

void StepCheck::checkToken(TokenId token, std::string_view what) const {
    ENGINE_CHECK(token >= 0 && token < m_vocabSize,
                 "{} {}, which a vocabulary of {} does not have",
                 what,
                 token,
                 m_vocabSize);
}

void StepCheck::checkPlan(const LayerPlan& plan) const {
    ENGINE_CHECK(plan.layerCount() == m_layerCount && plan.mlp.size() == plan.attention.size() &&
                     plan.exitAfterLayer >= 0 && plan.exitAfterLayer < m_layerCount,
                 "a plan of {} attention and {} MLP sublayers that exits after layer {} of {}",
                 plan.attention.size(),
                 plan.mlp.size(),
                 plan.exitAfterLayer,
                 m_layerCount);
}

/// Views and recordings get every step's tables: they must stay small, whatever a module does.
void StepCheck::limitTables(DecodeStep& step) {
    const std::size_t tables = step.tables.size();
    bool isCut = cutList(step.tables, kMostTables);
    for (StepTable& table : step.tables)
        isCut |= cutTable(table);
    if (!isCut || std::exchange(m_hasReportedCut, true))
        return;
    step.search.notes.push_back(fmt::format("The decoder {} shows more in tables than fits ({} "
                                            "of them, the first is \"{}\"): {} tables "
                                            "of {} rows and {} columns are kept of each step.",
                                            m_decoder,
                                            tables,
                                            step.tables.front().name,
                                            kMostTables,
                                            kMostTableRows,
                                            kMostColumns));
}

} // namespace engine
