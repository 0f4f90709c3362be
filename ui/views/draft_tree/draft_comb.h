// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QString>

#include <vector>

namespace ui {

/// A drafted token in the picture. A plain value.
struct CombNode {
    int index = -1; ///< into StepFinished::draft
    QString text;
    double probability = 0.0; ///< the draft's own
    bool isAccepted = false;
    int choice = 1; ///< its place among the draft's choices behind the same token
};

/// A row outside the draft: computed in the same pass, never accepted. A plain value.
struct CombSide {
    int index = -1; ///< into StepFinished::sides
    int depth = 0;  ///< below the root, from 1
    QString text;
};

/// One depth of the draft: the first choice and its alternatives.
struct CombRow {
    int depth = 0;        ///< from 1
    CombNode firstChoice; ///< index -1: the spine does not reach this depth
    std::vector<CombNode> alternatives;
    int choices = 0;             ///< k: nodes at this depth
    std::vector<CombSide> sides; ///< that hang on these nodes
};

/// A draft tree in rows: SWIFT's comb, and any other tree by depth. A plain value.
struct DraftComb {
    QString rootText; ///< the token after which the draft starts; empty when it is not known
    std::vector<CombRow> rows;
    std::vector<CombSide> rootSides; ///< that hang on the root
    int sideCount = 0;               ///< of all, those of the rows included
    int candidates = 0;              ///< rows of the verifying pass, the root included
    int accepted = 0;
    QString ownText; ///< the full model's own token after the accepted ones

    engine::DraftEnd end; ///< why it is not longer
};

/// `rootText`: the text of the token before the step's first one.
DraftComb makeDraftComb(const engine::StepFinished& step, const QString& rootText);

/// The attention mask of the verify pass: [rows][rows], true = the row's token sees the column's.
/// Row 0 is the root, row i + 1 is node i; the rows outside the draft follow.
std::vector<std::vector<bool>> verificationMask(const engine::StepFinished& step);

/// A drafted token as readable text.
QString draftedText(const engine::StepFinished& step, std::size_t node);

/// A token outside the draft as readable text.
QString sideText(const engine::StepFinished& step, std::size_t side);

} // namespace ui
