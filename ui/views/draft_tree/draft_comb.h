// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QString>

#include <vector>

namespace ui {

/// A drafted token as it is drawn. A plain value.
struct CombNode {
    int index = -1; ///< into StepFinished::draft
    QString text;
    double probability = 0.0; ///< the draft's own
    bool isAccepted = false;
};

/// A row that ran beside the draft: read in the same pass, never accepted. A plain value.
struct CombSide {
    int index = -1; ///< into StepFinished::sides
    int depth = 0;  ///< below the root, from 1
    QString text;
};

/// One depth of the draft: the first choice and what was drafted beside it.
struct CombRow {
    int depth = 0;        ///< from 1
    CombNode firstChoice; ///< index -1: nothing of the spine reaches here
    std::vector<CombNode> alternatives;
    int choices = 0;             ///< k: nodes at this depth
    std::vector<CombSide> sides; ///< that hang on these nodes
};

/// A draft tree in rows: SWIFT's comb, and any other tree by depth. A plain value.
struct DraftComb {
    QString rootText; ///< the token behind which was drafted; empty when it is not known
    std::vector<CombRow> rows;
    std::vector<CombSide> rootSides; ///< that hang on the root
    int sideCount = 0;               ///< of all, those of the rows included
    int candidates = 0;              ///< rows of the verifying pass, the root included
    int accepted = 0;
    QString ownText; ///< the full model's own token behind the accepted ones

    engine::DraftEnd end; ///< why it is no longer
};

/// `rootText`: the text of the token before the step's first one.
DraftComb makeDraftComb(const engine::StepFinished& step, const QString& rootText);

/// Who sees whom in the verifying pass: [rows][rows], true = the row's token sees the column's.
/// Row 0 is the root, row i + 1 is node i; the rows beside the draft follow.
std::vector<std::vector<bool>> verificationMask(const engine::StepFinished& step);

/// A drafted token as people read it.
QString draftedText(const engine::StepFinished& step, std::size_t node);

/// A token beside the draft as people read it.
QString sideText(const engine::StepFinished& step, std::size_t side);

} // namespace ui
