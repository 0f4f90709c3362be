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

/// The same for the rows outside the draft: a node, draft + an earlier one, or -1.
int sideParentOf(const StepFinished& step, std::size_t side) {
    const int parent = step.sides[side].parent;
    const auto limit = static_cast<int>(step.draft.size() + side);
    return parent < limit ? std::max(parent, -1) : -1;
}

/// The node that a row outside the draft belongs to, following other such rows; -1 = the root.
struct PlacedSide {
    int node = -1;
    int depth = 1;
};

std::vector<PlacedSide> placedSides(const StepFinished& step, const std::vector<int>& depth) {
    std::vector<PlacedSide> placed;
    const auto nodes = static_cast<int>(step.draft.size());
    for (std::size_t side = 0; side < step.sides.size(); ++side) {
        const int parent = sideParentOf(step, side);
        if (parent >= nodes) {
            const PlacedSide& before = placed[static_cast<std::size_t>(parent - nodes)];
            placed.push_back({before.node, before.depth + 1});
        } else {
            const int above = parent < 0 ? 0 : depth[static_cast<std::size_t>(parent)];
            placed.push_back({parent, above + 1});
        }
    }
    return placed;
}

void addSides(const StepFinished& step, const std::vector<int>& depth, DraftComb& comb) {
    const std::vector<PlacedSide> placed = placedSides(step, depth);
    for (std::size_t i = 0; i < placed.size(); ++i) {
        CombSide side{static_cast<int>(i), placed[i].depth, sideText(step, i)};
        const int node = placed[i].node;
        if (node < 0)
            comb.rootSides.push_back(std::move(side));
        else
            comb.rows[static_cast<std::size_t>(depth[static_cast<std::size_t>(node)] - 1)]
                .sides.push_back(std::move(side));
    }
    comb.sideCount = static_cast<int>(placed.size());
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

QString sideText(const StepFinished& step, std::size_t side) {
    if (side < step.sideTexts.size() && !step.sideTexts[side].empty())
        return visibleTokenText(QString::fromStdString(step.sideTexts[side]));
    return QStringLiteral("#%1").arg(step.sides[side].token);
}

DraftComb makeDraftComb(const StepFinished& step, const QString& rootText) {
    DraftComb comb;
    comb.rootText = visibleTokenText(rootText);
    comb.candidates = step.verifiedRows;
    comb.accepted = static_cast<int>(step.path.size());
    comb.end = step.draftEnd;
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
                                 .choices = 0,
                                 .sides = {}});
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
    addSides(step, depth, comb);
    return comb;
}

std::vector<std::vector<bool>> verificationMask(const StepFinished& step) {
    const std::size_t count = step.draft.size() + 1 + step.sides.size();
    std::vector<std::vector<bool>> sees(count, std::vector<bool>(count, false));
    sees[0][0] = true;
    for (std::size_t row = 1; row < count; ++row) {
        const std::size_t node = row - 1;
        const int parent = node < step.draft.size() ? parentOf(step, node)
                                                    : sideParentOf(step, node - step.draft.size());
        sees[row] = sees[static_cast<std::size_t>(parent + 1)];
        sees[row][row] = true;
    }
    return sees;
}

} // namespace ui
