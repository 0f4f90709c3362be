// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/bars/prompt_progress.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr int kTokensWorthTelling = 256;
constexpr double kSecondsInWords = 90.0; ///< longer times are shown in minutes

QString tr(const char* text) { return QCoreApplication::translate("ui::PromptProgress", text); }

QString number(int value) { return QLocale(QLocale::English).toString(value); }

/// At the rate so far; empty before the first piece is read.
QString timeLeft(const Answer& answer, int toRead) {
    const double readNow = answer.promptPart * answer.promptTokens - answer.reusedTokens;
    const double seconds = answer.promptTime - answer.startTime;
    if (readNow <= 0.0 || seconds <= 0.0)
        return {};
    const double left = seconds * (toRead - readNow) / readNow;
    if (left < 1.0)
        return tr(", less than 1 s left");
    return left < kSecondsInWords ? tr(", about %1 s left").arg(std::lround(left))
                                  : tr(", about %1 min left").arg(std::lround(left / 60.0));
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
    return tr("Reading the prompt: %1 of %2 tokens")
               .arg(number(read), number(answer->promptTokens)) +
           timeLeft(*answer, toRead);
}

} // namespace ui
