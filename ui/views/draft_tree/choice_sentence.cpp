// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/choice_sentence.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

namespace ui {

using namespace engine;

namespace {

/// "1.24 plain steps (10.3 ms)"; the milliseconds only where they were measured.
QString timeText(double cost, double plainMs) {
    const QString steps = tr("%1 plain steps").arg(cost, 0, 'f', 2);
    return plainMs > 0.0 ? tr("%1 (%2 ms)").arg(steps).arg(cost * plainMs, 0, 'f', 1) : steps;
}

QString drafterName(const std::string& drafter) {
    if (drafter == "free")
        return tr("recalling text seen before");
    if (drafter == "skip")
        return tr("skipping layers");
    if (drafter == "exit")
        return tr("an early exit");
    if (drafter == "tuned")
        return tr("the draft adapter");
    if (drafter == "copy")
        return tr("a 4-bit copy of the weights");
    return QString::fromStdString(drafter); // of a later version
}

QString chosenText(const StepFinished& step) {
    if (step.isProbe)
        return tr("Tried %1 to measure what it gains: %2 tokens were expected in the time of %3.");
    return tr("Drafted by %1, because %2 tokens were expected in the time of %3.");
}

} // namespace

QString choiceSentence(const StepFinished& step) {
    if (step.drafter.empty())
        return {};
    QString text;
    if (step.drafter != "none")
        text = chosenText(step)
                   .arg(drafterName(step.drafter))
                   .arg(decimalText(step.expectedTokens))
                   .arg(timeText(step.expectedCost, step.plainMs));
    if (step.refusedDrafter.empty() || step.refusedDrafter == "none")
        return text;
    const QString refused = tr("Not drafted by %1: only %2 tokens were expected in the time of %3.")
                                .arg(drafterName(step.refusedDrafter))
                                .arg(decimalText(step.refusedTokens))
                                .arg(timeText(step.refusedCost, step.plainMs));
    return text.isEmpty() ? refused : text + QLatin1Char(' ') + refused;
}

} // namespace ui
