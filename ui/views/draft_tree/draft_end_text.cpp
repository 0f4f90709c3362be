// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/draft_end_text.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

#include <cmath>

namespace ui {

using engine::DraftEndReason;

namespace {

QString count(double value) { return QString::number(value, 'f', 0); }

} // namespace

QString draftEndText(const engine::DraftEnd& end) {
    switch (end.reason) {
    case DraftEndReason::NotReported:
        break;
    case DraftEndReason::Unsure:
        return tr("%1 < threshold %2").arg(decimalText(end.value), decimalText(end.limit));
    case DraftEndReason::Length:
        return tr("longest draft reached: %1 in a row").arg(count(end.limit));
    case DraftEndReason::Nodes:
        return countText(std::lround(end.limit),
                         tr("limit of 1 candidate reached"),
                         tr("limit of %1 candidates reached"));
    case DraftEndReason::Room:
        return tr("the answer may not get longer");
    case DraftEndReason::EndToken:
        return tr("the answer would end here");
    case DraftEndReason::Budget:
        return countText(std::lround(end.limit),
                         tr("no draft goes beyond 1 token"),
                         tr("no draft goes beyond %1 tokens"));
    case DraftEndReason::Nothing:
        return tr("no further guess is known");
    case DraftEndReason::Unlikely:
        return tr("the next guess is too unlikely, %1 < %2")
            .arg(decimalText(end.value), decimalText(end.limit));
    case DraftEndReason::Price:
        return end.limit > 0.0 ? tr("a longer draft would give %1 tokens in the time of %2 "
                                    "plain steps")
                                     .arg(decimalText(end.value), decimalText(end.limit))
                               : tr("a longer draft does not pay");
    case DraftEndReason::Measuring:
        return tr("a plain step was measured");
    }
    return {};
}

} // namespace ui
