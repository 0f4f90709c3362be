// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/draft_comb.h"

#include "ui/origin/token_mark.h"

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

/// A recording may hold any parent; only a lower index can be one.
int parentOf(const StepFinished& step, std::size_t node) {
    const int parent = step.draft[node].parent;
    return parent < static_cast<int>(node) ? std::max(parent, -1) : -1;
}

std::vector<int> depths(const StepFinished& step) {
    std::vector<int> result;
    for (std::size_t node = 0; node < step.draft.size(); ++node) {
        const int parent = parentOf(step, node);
        result.push_back(parent < 0 ? 1 : result[static_cast<std::size_t>(parent)] + 1);
    }
    return result;
}

/// The nodes of the first choices: from the root always the child of rank 0.
std::vector<bool> onSpine(const StepFinished& step) {
    std::vector<bool> result;
    for (std::size_t node = 0; node < step.draft.size(); ++node) {
        const int parent = parentOf(step, node);
        const bool hangsOnSpine = parent < 0 || result[static_cast<std::size_t>(parent)];
        result.push_back(hangsOnSpine && step.draft[node].rank == 0);
    }
    return result;
}

} // namespace

QString draftedText(const StepFinished& step, std::size_t node) {
    if (node < step.draftTexts.size())
        return visibleTokenText(QString::fromStdString(step.draftTexts[node]));
    return QStringLiteral("#%1").arg(step.draft[node].token);
}

DraftComb makeDraftComb(const StepFinished& step, const QString& rootText) {
    DraftComb comb;
    comb.rootText = visibleTokenText(rootText);
    comb.candidates = step.verifiedRows;
    comb.accepted = static_cast<int>(step.path.size());
    comb.lastConfidence = step.confidences.empty() ? 0.0 : step.confidences.back();
    if (!step.tokens.empty() && step.tokens.back().fact.origin == TokenOrigin::Bonus)
        comb.ownText = visibleTokenText(QString::fromStdString(step.tokens.back().text));
    const std::vector<int> depth = depths(step);
    const std::vector<bool> isSpine = onSpine(step);
    for (std::size_t i = 0; i < step.draft.size(); ++i) {
        const auto row = static_cast<std::size_t>(depth[i] - 1);
        while (comb.rows.size() <= row)
            comb.rows.push_back({.depth = static_cast<int>(comb.rows.size()) + 1,
                                 .firstChoice = {},
                                 .alternatives = {},
                                 .choices = 0});
        CombNode node{static_cast<int>(i),
                      draftedText(step, i),
                      step.draft[i].probability,
                      std::ranges::count(step.path, static_cast<int>(i)) > 0};
        ++comb.rows[row].choices;
        if (isSpine[i])
            comb.rows[row].firstChoice = std::move(node);
        else
            comb.rows[row].alternatives.push_back(std::move(node));
    }
    return comb;
}

std::vector<std::vector<bool>> verificationMask(const StepFinished& step) {
    const std::size_t count = step.draft.size() + 1;
    std::vector<std::vector<bool>> sees(count, std::vector<bool>(count, false));
    sees[0][0] = true;
    for (std::size_t node = 0; node < step.draft.size(); ++node) {
        const auto parent = static_cast<std::size_t>(parentOf(step, node) + 1);
        sees[node + 1] = sees[parent];
        sees[node + 1][node + 1] = true;
    }
    return sees;
}

} // namespace ui
