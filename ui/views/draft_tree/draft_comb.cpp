// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/draft_comb.h"

#include "engine/learn/rounds/round_shape.h"
#include "ui/origin/token_mark.h"

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

void addSides(const StepFinished& step, const RoundShape& shape, DraftComb& comb) {
    for (int row = shape.nodeCount + 1; row < shape.rowCount(); ++row) {
        const int index = row - shape.nodeCount - 1;
        CombSide side{index,
                      shape.depths[static_cast<std::size_t>(row)],
                      sideText(step, static_cast<std::size_t>(index))};
        const int hangsOn = shape.draftRowOf(row);
        const int depth = shape.depths[static_cast<std::size_t>(hangsOn)];
        if (hangsOn == 0)
            comb.rootSides.push_back(std::move(side));
        else
            comb.rows[static_cast<std::size_t>(depth - 1)].sides.push_back(std::move(side));
    }
    comb.sideCount = shape.sideCount;
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
    const RoundShape shape = shapeOf(step);
    for (std::size_t i = 0; i < step.draft.size(); ++i) {
        const auto row = static_cast<std::size_t>(shape.depths[i + 1] - 1);
        while (comb.rows.size() <= row)
            comb.rows.push_back({.depth = static_cast<int>(comb.rows.size()) + 1,
                                 .firstChoice = {},
                                 .alternatives = {},
                                 .choices = 0,
                                 .sides = {}});
        CombNode node{static_cast<int>(i),
                      draftedText(step, i),
                      step.draft[i].probability,
                      std::ranges::count(step.path, static_cast<int>(i)) > 0,
                      step.draft[i].rank + 1};
        ++comb.rows[row].choices;
        if (shape.isSpine[i + 1])
            comb.rows[row].firstChoice = std::move(node);
        else
            comb.rows[row].alternatives.push_back(std::move(node));
    }
    addSides(step, shape, comb);
    return comb;
}

std::vector<std::vector<bool>> verificationMask(const StepFinished& step) {
    const RoundShape shape = shapeOf(step);
    const auto count = static_cast<std::size_t>(shape.rowCount());
    std::vector<std::vector<bool>> sees(count, std::vector<bool>(count, false));
    sees[0][0] = true;
    for (std::size_t row = 1; row < count; ++row) {
        sees[row] = sees[static_cast<std::size_t>(shape.parents[row])];
        sees[row][row] = true;
    }
    return sees;
}

} // namespace ui
