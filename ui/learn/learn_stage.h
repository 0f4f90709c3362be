// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/icons/icons.h"
#include "ui/shell/docks/view.h"

#include <QString>

#include <vector>

namespace ui {

/// A subject of the workspace Learn, with a page of its own. A plain value.
struct LearnStage {
    QString id;       ///< as the id of its view: "slow_motion"; never shown
    QString title;    ///< "Slow motion"
    QString sentence; ///< what can be seen there
    IconName icon;
    View* (*make)(const ViewContext& context); ///< its page; the caller owns it
    bool needsRound = true; ///< there is nothing to see before an answer has a round
};

/// All of them, in the order in which they are offered. To add one, add a line here.
std::vector<LearnStage> learnStages();

} // namespace ui
