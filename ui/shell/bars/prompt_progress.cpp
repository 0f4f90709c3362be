// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/bars/prompt_progress.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr int kTokensWorthTelling = 256;
constexpr double kSecondsInWords = 90.0; ///< longer times are shown in minutes

/// With the time left at the rate so far; without before the first piece is read.
QString withTimeLeft(const QString& progress, const Answer& answer, int toRead) {
    const double readNow = answer.promptPart * answer.promptTokens - answer.reusedTokens;
    const double seconds = answer.promptTime - answer.startTime;
    if (readNow <= 0.0 || seconds <= 0.0)
        return progress;
    const double left = seconds * (toRead - readNow) / readNow;
    if (left < 1.0)
        return tr("%1, less than 1 s left").arg(progress);
    return left < kSecondsInWords
               ? tr("%1, about %2 s left").arg(progress, QString::number(std::lround(left)))
               : tr("%1, about %2 min left")
                     .arg(progress, QString::number(std::lround(left / 60.0)));
}

} // namespace

QString promptProgressText(const Answer* answer) {
    if (answer == nullptr || !answer->isRunning() || !answer->steps.empty() ||
        answer->promptPart >= 1.0)
        return {};
    const int toRead = answer->promptTokens - answer->reusedTokens;
    if (toRead < kTokensWorthTelling)
        return {};
    const int read =
        std::max(answer->reusedTokens, static_cast<int>(answer->promptPart * answer->promptTokens));
    return withTimeLeft(tr("Reading the prompt: %1 of %2 tokens")
                            .arg(numberText(read), numberText(answer->promptTokens)),
                        *answer,
                        toRead);
}

} // namespace ui
