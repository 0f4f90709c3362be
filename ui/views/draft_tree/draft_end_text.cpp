// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/draft_end_text.h"

#include <QCoreApplication>

namespace ui {

using engine::DraftEndReason;

namespace {

QString endText(const char* text) { return QCoreApplication::translate("DraftTreeView", text); }

QString number(double value) { return QString::number(value, 'f', 2); }

QString count(double value) { return QString::number(value, 'f', 0); }

} // namespace

QString draftEndText(const engine::DraftEnd& end) {
    switch (end.reason) {
    case DraftEndReason::NotTold:
        break;
    case DraftEndReason::Unsure:
        return endText("%1 < threshold %2").arg(number(end.value), number(end.limit));
    case DraftEndReason::Length:
        return endText("longest draft reached: %1 in a row").arg(count(end.limit));
    case DraftEndReason::Nodes:
        return endText("limit of %1 candidates reached").arg(count(end.limit));
    case DraftEndReason::Room:
        return endText("the answer may not get longer");
    case DraftEndReason::EndToken:
        return endText("the answer would end here");
    case DraftEndReason::Budget:
        return endText("no draft goes beyond %1 tokens").arg(count(end.limit));
    case DraftEndReason::Nothing:
        return endText("no further guess is known");
    case DraftEndReason::Unlikely:
        return endText("the next guess is too unlikely, %1 < %2")
            .arg(number(end.value), number(end.limit));
    case DraftEndReason::Price:
        return end.limit > 0.0 ? endText("a longer draft would give %1 tokens in the time of %2 "
                                         "plain steps")
                                     .arg(number(end.value), number(end.limit))
                               : endText("a longer draft does not pay");
    case DraftEndReason::Measuring:
        return endText("a plain step was measured");
    }
    return {};
}

} // namespace ui
