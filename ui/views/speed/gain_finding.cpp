// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/gain_finding.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kSaidBelow = 0.97;
constexpr double kTakenBackFrom = 0.995; // which is shown as 1.00

/// Auto keeps what it found, whatever it drafts with now. A copy is a plan that skips nothing.
DraftSource draftSourceOf(const RunStore& store) {
    const BestSet* used = store.search().used();
    const engine::DecoderInfo* decoder = store.decoder();
    if (used == nullptr || (decoder != nullptr && decoder->name == "auto"))
        return DraftSource::Other;
    if (used->change.reason == "copy")
        return DraftSource::Copy;
    const bool allSkip = decoder == nullptr || decoder->hasDraftRatio;
    return allSkip ? DraftSource::SkippedLayers : DraftSource::Other;
}

QString skippingSentence(const GainFinding& finding, int lostOfTen, int saved) {
    if (finding.skippedSublayers == 0 || finding.sublayers == 0 || saved <= 0)
        return tr("A draft pass costs as much as a whole pass here, so drafting by skipping saves "
                  "nothing.");
    return countText(lostOfTen,
                     tr("Skipping %2 of %3 sublayers saves %4 % of a pass's time, but 1 of 10 "
                        "drafted tokens is rejected."),
                     tr("Skipping %2 of %3 sublayers saves %4 % of a pass's time, but %1 of "
                        "10 drafted tokens are rejected."))
        .arg(finding.skippedSublayers)
        .arg(finding.sublayers)
        .arg(saved);
}

QString copySentence(int lostOfTen, int saved) {
    if (saved <= 0)
        return tr("A pass of the copy costs as much as a whole pass here, so drafting with it "
                  "saves nothing.");
    return countText(lostOfTen,
                     tr("The copy saves %2 % of a pass's time, but 1 of 10 drafted tokens is "
                        "rejected."),
                     tr("The copy saves %2 % of a pass's time, but %1 of 10 drafted tokens are "
                        "rejected."))
        .arg(saved);
}

/// Of drafts that need no pass of the model, or of several kinds.
QString stepSentence(const GainFinding& finding) {
    const double speed = finding.measured.value_or(finding.expectedFull);
    const double tokens = finding.factors.tokensPerRound;
    return tr("An average step takes as long as %1 plain steps and gives %2 tokens; drafting pays "
              "where it gives more than that.")
        .arg(decimalText(speed > 0.0 ? tokens / speed : 0.0), decimalText(tokens));
}

} // namespace

std::optional<double> GainFinding::neededAcceptance() const {
    // M = (M - 1) c / alpha + v + o, solved for alpha.
    const double drafted = factors.tokensPerRound - 1.0;
    const double left = factors.tokensPerRound - factors.verifyCost - factors.otherCost;
    if (drafted <= 0.0 || left <= 0.0)
        return std::nullopt;
    const double needed = drafted * factors.draftCost / left;
    return needed <= 1.0 ? std::optional(needed) : std::nullopt;
}

std::optional<GainFinding> gainFinding(const RunStore& store) {
    const SpanFigures chat = store.speed().chat();
    const engine::DecodeMetrics& total = chat.sums;
    const auto factors = chat.factors();
    if (!factors || total.rounds < kRoundsToJudge)
        return std::nullopt;
    const bool isByAuto = store.decoder() != nullptr && store.decoder()->name == "auto";
    GainFinding finding{.rounds = total.rounds,
                        .accepted = total.accepted,
                        .draftSteps = total.draftSteps,
                        .factors = *factors,
                        .source = draftSourceOf(store),
                        .isByAuto = isByAuto,
                        .expectedFull = engine::expectedSpeedup(*factors)};
    engine::SpeedFactors simple = *factors;
    simple.verifyCost = 1.0;
    simple.otherCost = 0.0;
    finding.expected = engine::expectedSpeedup(simple);
    if (finding.source == DraftSource::SkippedLayers) {
        const BestSet* set = store.search().used();
        const engine::PlanOutline& plan = set->change.plan;
        const engine::SkipSet leftOut = engine::leftOutBy(plan);
        finding.skippedSublayers = static_cast<int>(leftOut.attention.size() + leftOut.mlp.size());
        finding.sublayers =
            2 * (plan.layerCount - static_cast<int>(store.lockedLayers(plan.layerCount).size()));
    }
    if (total.ownMs() > 0.0)
        finding.measured =
            *chat.baselineMs * static_cast<double>(total.ownTokens()) / total.ownMs();
    finding.inChat = chat.speedup().value_or(finding.expectedFull);
    const std::vector<SpanMark>& marks = store.speed().marks();
    finding.span = {store.speed().number(), marks.empty() ? 0 : marks.back().point};
    return finding;
}

bool isWithoutGain(const GainFinding& finding, bool wasSaid) {
    const double factor = finding.measured.value_or(finding.expectedFull);
    return factor < (wasSaid ? kTakenBackFrom : kSaidBelow);
}

QString gainHeadline(const GainFinding& finding) {
    switch (finding.source) {
    case DraftSource::SkippedLayers:
        return tr("Layer skipping does not pay on this model.");
    case DraftSource::Copy:
        return tr("Drafting with a copy of the weights does not pay on this model.");
    case DraftSource::Other:
        break;
    }
    return tr("Drafting does not pay in this chat.");
}

std::vector<std::pair<QString, QString>> arithmeticRows(const GainFinding& finding) {
    const engine::SpeedFactors& factors = finding.factors;
    std::vector<std::pair<QString, QString>> rows = {
        {finding.source == DraftSource::Other ? tr("Cost of a draft step, measured (c)")
                                              : tr("Cost of a draft pass, measured (c)"),
         shareText(factors.draftCost)},
        {tr("Accepted / drafted (α)"),
         QStringLiteral("%1 / %2 = %3")
             .arg(finding.accepted)
             .arg(finding.draftSteps)
             .arg(shareText(factors.acceptance))},
        {tr("Tokens per step (M)"), decimalText(factors.tokensPerRound)},
        {tr("Cost of verifying a step (v)"), shareText(factors.verifyCost)},
        {tr("Other work of a step (o)"), shareText(factors.otherCost)},
        {tr("Expected: M·α / ((M−1)·c + α)"), factorText(finding.expected)},
        {tr("With v and o: M / ((M−1)·c/α + v + o)"), factorText(finding.expectedFull)}};
    if (finding.measured)
        rows.emplace_back(tr("Measured, without the search"), factorText(*finding.measured));
    return rows;
}

QString arithmeticSentence(const GainFinding& finding) {
    const engine::SpeedFactors& factors = finding.factors;
    const int lostOfTen =
        static_cast<int>(std::lround(10.0 * std::clamp(1.0 - factors.acceptance, 0.0, 1.0)));
    const int saved = static_cast<int>(std::lround(100.0 * (1.0 - factors.draftCost)));
    const auto needed = finding.neededAcceptance();
    if (finding.source == DraftSource::Other)
        return stepSentence(finding);
    if (finding.source == DraftSource::Copy)
        return copySentence(lostOfTen, saved) + QChar(' ') +
               (needed ? tr("Drafting would be faster with α above %1 at this c.")
                             .arg(shareText(*needed))
                       : tr("At these costs no acceptance rate would make it faster."));
    return skippingSentence(finding, lostOfTen, saved) + QChar(' ') +
           (needed ? tr("Drafting would be faster with α above %1 at this c, or on a model with "
                        "larger layers.")
                         .arg(shareText(*needed))
                   : tr("At these costs no acceptance rate would make it faster; only a model "
                        "with larger layers would.")) +
           QChar(' ') +
           tr("Models of 7B parameters or more usually gain more from "
              "skipping.");
}

} // namespace ui
