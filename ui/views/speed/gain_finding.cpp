// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/gain_finding.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kSaidBelow = 0.97;
constexpr double kTakenBackAbove = 1.03;

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
    // Without skipped layers there is nothing that might not pay.
    const bool skipsLayers = store.search().used() != nullptr;
    // Auto already does what the notice would advise.
    if (store.decoder() != nullptr && store.decoder()->name == "auto")
        return std::nullopt;
    if (!factors || total.rounds < kRoundsToJudge || !skipsLayers)
        return std::nullopt;
    GainFinding finding{.rounds = total.rounds,
                        .accepted = total.accepted,
                        .draftSteps = total.draftSteps,
                        .factors = *factors,
                        .expectedFull = engine::expectedSpeedup(*factors)};
    engine::SpeedFactors simple = *factors;
    simple.verifyCost = 1.0;
    simple.otherCost = 0.0;
    finding.expected = engine::expectedSpeedup(simple);
    if (const BestSet* set = store.search().used()) {
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
    return finding;
}

bool isWithoutGain(const GainFinding& finding, bool wasSaid) {
    const double factor = finding.measured.value_or(finding.expectedFull);
    return factor < (wasSaid ? kTakenBackAbove : kSaidBelow);
}

std::vector<std::pair<QString, QString>> arithmeticRows(const GainFinding& finding) {
    const engine::SpeedFactors& factors = finding.factors;
    std::vector<std::pair<QString, QString>> rows = {
        {tr("Cost of a draft pass, measured (c)"), shareText(factors.draftCost)},
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
    QString text;
    if (finding.sublayers > 0 && saved > 0)
        text = countText(lostOfTen,
                         tr("Skipping %2 of %3 sublayers saves %4 % of a pass's time, but 1 of 10 "
                            "drafted tokens is rejected."),
                         tr("Skipping %2 of %3 sublayers saves %4 % of a pass's time, but %1 of "
                            "10 drafted tokens are rejected."))
                   .arg(finding.skippedSublayers)
                   .arg(finding.sublayers)
                   .arg(saved);
    else
        text = tr("A draft pass costs as much as a whole pass here, so drafting by skipping saves "
                  "nothing.");
    text += QChar(' ');
    if (const auto needed = finding.neededAcceptance())
        text += tr("Drafting would be faster with α above %1 at this c, or on a model with "
                   "larger layers.")
                    .arg(shareText(*needed));
    else
        text += tr("At these costs no acceptance rate would make it faster; only a model "
                   "with larger layers would.");
    return text + QChar(' ') +
           tr("Models of 7B parameters or more usually gain more from "
              "skipping.");
}

} // namespace ui
