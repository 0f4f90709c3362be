// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/walk_scene.h"

#include "ui/origin/token_mark.h"

#include <algorithm>
#include <cmath>

namespace ui {

using namespace engine;

namespace {

/// The pass of the full model takes this part of the stop; what it says follows.
constexpr double kPassPart = 0.6;

} // namespace

double WalkScene::shown(RoundStop of) const {
    return of < current() ? 1.0 : of == current() ? part : 0.0;
}

int WalkScene::shownOf(RoundStop of, int count) const {
    const double done = shown(of);
    return done <= 0.0 ? 0 : std::min(count, static_cast<int>(std::floor(done * count)) + 1);
}

int WalkScene::runningLayer() const {
    const int layers = walk.layerCount;
    if (layers <= 0 || part >= 1.0)
        return -1;
    if (current() == RoundStop::Draft && walk.drafting.passes() > 0) {
        const double passes = part * walk.drafting.passes();
        return static_cast<int>((passes - std::floor(passes)) * layers);
    }
    if (current() != RoundStop::Verify || part >= kPassPart)
        return -1;
    return static_cast<int>(part / kPassPart * layers);
}

std::vector<SceneDepth> WalkScene::depths() const {
    const RoundShape& shape = walk.shape;
    std::vector<SceneDepth> depths(walk.widening.choices.size());
    for (int row = 1; row <= shape.nodeCount; ++row) {
        const auto at = static_cast<std::size_t>(row);
        SceneDepth& depth = depths[static_cast<std::size_t>(shape.depths[at] - 1)];
        if (shape.isSpine[at] && depth.firstChoice < 0)
            depth.firstChoice = row;
        else
            depth.alternatives.push_back(row);
    }
    for (SceneDepth& depth : depths)
        std::ranges::stable_partition(depth.alternatives,
                                      [&](int row) { return shape.isAccepted(row); });
    // Along what was accepted as far as that goes, behind it along the first choices.
    const auto written = std::min(walk.accepting.tokens.size(), shape.path.size() + 1);
    if (depths.size() < written)
        depths.resize(written);
    for (std::size_t i = 0; i < depths.size(); ++i) {
        if (i == 0)
            depths[i].asked = 0;
        else if (i <= shape.path.size())
            depths[i].asked = shape.path[i - 1];
        else
            depths[i].asked = depths[i - 1].firstChoice;
    }
    return depths;
}

int WalkScene::alternativeCount() const {
    int count = 0;
    for (const SceneDepth& depth : depths())
        count += static_cast<int>(depth.alternatives.size());
    return count;
}

int WalkScene::choiceNumber(int row) const {
    const auto first = walk.shape.parents.begin();
    return 1 + static_cast<int>(std::count(first, first + row, *(first + row)));
}

bool WalkScene::showsChoice(int row) const {
    if (row < 0 || !walk.rows[static_cast<std::size_t>(row)].choice)
        return false;
    const double done = shown(RoundStop::Verify);
    if (done < kPassPart)
        return false;
    const int depth = walk.shape.depths[static_cast<std::size_t>(row)];
    const auto places = static_cast<double>(walk.widening.choices.size() + 1);
    return done >= 1.0 || (done - kPassPart) / (1.0 - kPassPart) * places >= depth;
}

bool WalkScene::isKept(int row) const {
    if (row == 0)
        return true;
    const auto place = std::ranges::find(walk.shape.path, row);
    if (place == walk.shape.path.end())
        return false;
    const int index = static_cast<int>(place - walk.shape.path.begin());
    return index < shownOf(RoundStop::Accept, static_cast<int>(walk.shape.path.size()));
}

bool WalkScene::isGone(int row) const {
    return row > 0 && shown(RoundStop::Accept) >= 1.0 && !walk.shape.isAccepted(row);
}

QString rowText(const RoundWalk& walk, int row) {
    const WalkRow& shown = walk.rows[static_cast<std::size_t>(row)];
    if (!shown.text.empty())
        return visibleTokenText(QString::fromStdString(shown.text));
    return shown.token == kNoToken ? QString() : QStringLiteral("#%1").arg(shown.token);
}

QString choiceText(const TokenChoice& choice) {
    return choice.text.empty() ? QStringLiteral("#%1").arg(choice.id)
                               : visibleTokenText(QString::fromStdString(choice.text));
}

} // namespace ui
