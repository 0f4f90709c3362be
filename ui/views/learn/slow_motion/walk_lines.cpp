// SPDX-License-Identifier: GPL-3.0-only
#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"
#include "ui/views/draft_tree/draft_end_text.h"
#include "ui/views/learn/slow_motion/walk_texts.h"

#include <algorithm>

// The arithmetic of a walk, and its tables.

namespace ui {

using namespace engine;

namespace {

QString msText(double ms) { return tr("%1 ms").arg(ms, 0, 'f', ms < 100.0 ? 1 : 0); }

QString sumText(const std::vector<int>& numbers) {
    QStringList words;
    for (const int number : numbers)
        words << QString::number(number);
    return words.join(QStringLiteral(" + "));
}

QString layersText(double layers) { return QString::number(layers, 'f', layers < 9.95 ? 1 : 0); }

std::vector<WalkLine> draftLines(const RoundWalk& walk) {
    const DraftingFacts& facts = walk.drafting;
    std::vector<WalkLine> lines;
    if (facts.passes() == 0) {
        lines.push_back({tr("guesses, without a pass"), QString::number(walk.candidates())});
    } else if (facts.passCost > 0.0) {
        lines.push_back({countText(facts.passes(),
                                   tr("1 pass \u00D7 c %2 \u00D7 %3"),
                                   tr("%1 passes \u00D7 c %2 \u00D7 %3"))
                             .arg(shareText(facts.passCost), msText(walk.plainMs)),
                         msText(facts.ms)});
    } else {
        lines.push_back(
            {countText(facts.passes(), tr("1 pass"), tr("%1 passes")), msText(facts.ms)});
    }
    if (facts.passes() > 0 && walk.layerCount > 0)
        lines.push_back({walk.isByAdapter() || walk.isByCopy()
                             ? tr("weights that a pass reads, in layers")
                             : tr("layers that a pass runs"),
                         tr("%1 of %2").arg(layersText(facts.layersPerPass)).arg(walk.layerCount)});
    if (facts.end.reason == DraftEndReason::Unsure)
        lines.push_back(
            {tr("sure enough? (\u03B5 %1)").arg(shareText(facts.end.limit)),
             tr("%1 < %2").arg(shareText(facts.end.value), shareText(facts.end.limit))});
    return lines;
}

std::vector<WalkLine> widenLines(const RoundWalk& walk) {
    std::vector<WalkLine> lines = {
        {tr("k at each place: %1").arg(sumText(walk.widening.choices)),
         countText(walk.candidates(), tr("1 candidate"), tr("%1 candidates"))}};
    if (walk.widening.schedule) {
        const auto& counts = walk.widening.schedule->counts;
        lines.push_back({tr("k above .95, .8, .5, below"),
                         QStringLiteral("%1 %2 %3 %4")
                             .arg(counts[0])
                             .arg(counts[1])
                             .arg(counts[2])
                             .arg(counts[3])});
    }
    return lines;
}

std::vector<WalkLine> lineariseLines(const RoundWalk& walk) {
    const QString rows = countText(walk.shape.rowCount(), tr("1 row"), tr("%1 rows"));
    const QString candidates = countText(walk.candidates(), tr("1 candidate"), tr("%1 candidates"));
    if (walk.shape.sideCount == 0)
        return {{tr("%1 + the root").arg(candidates), rows}};
    return {{tr("%1 + the root + %2 beside").arg(candidates).arg(walk.shape.sideCount), rows}};
}

std::vector<WalkLine> verifyLines(const RoundWalk& walk) {
    const VerifyingFacts& facts = walk.verifying;
    std::vector<WalkLine> lines;
    if (facts.cost > 0.0 && !walk.isPlain)
        lines.push_back({tr("1 pass of %1 rows: v %2 \u00D7 %3")
                             .arg(facts.rows)
                             .arg(shareText(facts.cost), msText(walk.plainMs)),
                         msText(facts.ms)});
    else
        lines.push_back({countText(facts.rows, tr("1 pass of 1 row"), tr("1 pass of %1 rows")),
                         msText(facts.ms)});
    if (facts.rows > 1 && walk.plainMs > 0.0)
        lines.push_back({tr("one by one: %1 \u00D7 %2").arg(facts.rows).arg(msText(walk.plainMs)),
                         msText(facts.rows * walk.plainMs)});
    return lines;
}

WalkLine searchTimeLine(const RoundWalk& walk) {
    return {tr("its search"), msText(walk.accepting.searchMs)};
}

/// The speed of the answer counts the search, that of a round does not: so it is told apart.
std::vector<WalkLine> acceptLines(const RoundWalk& walk) {
    const AcceptingFacts& facts = walk.accepting;
    const bool hasSearched = facts.searchMs > 0.0;
    std::vector<WalkLine> lines = {
        {tr("accepted + own = tokens"),
         QStringLiteral("%1 + %2 = %3")
             .arg(facts.accepted)
             .arg(facts.own())
             .arg(facts.tokens.size())},
        {hasSearched ? tr("the round, without its search") : tr("the whole round"),
         msText(facts.roundMs)}};
    if (hasSearched && !walk.has(RoundStop::Search))
        lines.push_back(searchTimeLine(walk));
    if (facts.plainStepsMs <= 0.0)
        return lines;
    lines.push_back(
        {tr("as plain steps: %1 \u00D7 %2").arg(facts.tokens.size()).arg(msText(walk.plainMs)),
         msText(facts.plainStepsMs)});
    if (facts.roundMs > 0.0)
        lines.push_back({hasSearched ? tr("so without its search it is") : tr("so this round is"),
                         factorText(facts.speedup())});
    return lines;
}

std::vector<WalkLine> searchLines(const RoundWalk& walk) {
    const TrialFinished& trial = walk.trials.back();
    std::vector<WalkLine> lines;
    if (!trial.ticks.empty())
        lines.push_back(
            {tr("right / tokens = matchness"),
             QStringLiteral("%1/%2 = %3")
                 .arg(std::ranges::count_if(trial.ticks, [](int tick) { return tick != 0; }))
                 .arg(trial.ticks.size())
                 .arg(shareText(trial.score))});
    else
        lines.push_back({tr("matchness"), shareText(trial.score)});
    lines.push_back({tr("best so far"), shareText(trial.best)});
    lines.push_back({tr("kept?"), trial.isBest ? tr("yes") : tr("no")});
    if (walk.accepting.searchMs > 0.0)
        lines.push_back(searchTimeLine(walk));
    return lines;
}

QString probabilityCell(double probability) { return QString::number(probability, 'f', 4); }

QString yesNo(bool isSo) { return isSo ? tr("yes") : tr("no"); }

} // namespace

std::vector<WalkLine> stopLines(const RoundWalk& walk, RoundStop stop) {
    switch (stop) {
    case RoundStop::Draft:
        return draftLines(walk);
    case RoundStop::Widen:
        return widenLines(walk);
    case RoundStop::Linearise:
        return lineariseLines(walk);
    case RoundStop::Verify:
        return verifyLines(walk);
    case RoundStop::Accept:
        return acceptLines(walk);
    case RoundStop::Search:
        return searchLines(walk);
    }
    return {};
}

std::vector<WalkLine> answerLines(const RoundWalk& walk, bool isWithRound) {
    const DecodeMetrics& so = isWithRound ? walk.accepting.soFar : walk.accepting.before;
    const auto known = [](const std::optional<double>& value) {
        return value ? decimalText(*value) : QStringLiteral("\u2013");
    };
    return {
        {tr("tokens per round (M)"),
         so.rounds == 0 ? known({})
                        : QStringLiteral("%1/%2 = %3")
                              .arg(so.ownTokens())
                              .arg(so.ownRounds())
                              .arg(known(so.tokensPerRound()))},
        {tr("accepted / drafted (\u03B1)"),
         so.acceptance() ? QStringLiteral("%1/%2 = %3")
                               .arg(so.accepted)
                               .arg(so.draftSteps)
                               .arg(shareText(*so.acceptance()))
                         : known({})},
        {tr("speed over plain steps"), so.speedup() ? factorText(*so.speedup()) : known({}), true}};
}

FigureTable stopTable(const RoundWalk& walk, RoundStop stop) {
    if (stop == RoundStop::Search) {
        const TrialFinished& trial = walk.trials.back();
        FigureTable table{{tr("Place"), tr("Token"), tr("Predicted"), tr("Right", "correct")}, {}};
        for (std::size_t i = 0; i < trial.ticks.size(); ++i)
            table.rows.push_back(
                {QString::number(i + 1),
                 i < trial.window.size() ? QString::fromStdString(trial.window[i]) : QString(),
                 i < trial.guesses.size() ? QString::fromStdString(trial.guesses[i]) : QString(),
                 yesNo(trial.ticks[i] != 0)});
        return table;
    }
    FigureTable table{{tr("Row"), tr("Depth"), tr("Token"), tr("Behind row")}, {}};
    const bool isDrafted = stop <= RoundStop::Widen;
    if (isDrafted)
        table.header << tr("Probability in the draft") << tr("First choice");
    else
        table.header << tr("Sees rows");
    if (stop >= RoundStop::Verify)
        table.header << tr("Model's choice") << tr("Its probability");
    if (stop >= RoundStop::Accept)
        table.header << tr("Kept");
    const RoundShape& shape = walk.shape;
    for (int row = 0; row < shape.rowCount(); ++row) {
        const auto at = static_cast<std::size_t>(row);
        if (isDrafted &&
            (row == 0 || shape.isSide(row) || (stop == RoundStop::Draft && !shape.isSpine[at])))
            continue;
        QStringList cells = {QString::number(row),
                             QString::number(shape.depths[at]),
                             rowText(walk, row),
                             row == 0 ? QString() : QString::number(shape.parents[at])};
        if (isDrafted) {
            cells << probabilityCell(walk.rows[at].probability) << yesNo(shape.isSpine[at]);
        } else {
            QStringList seen;
            for (const int other : shape.lineOf(row))
                seen << QString::number(other);
            cells << seen.join(QLatin1Char(' '));
        }
        if (stop >= RoundStop::Verify) {
            const auto& choice = walk.rows[at].choice;
            cells << (choice ? choiceText(*choice) : QString())
                  << (choice ? probabilityCell(choice->probability) : QString());
        }
        if (stop >= RoundStop::Accept)
            cells << yesNo(shape.isAccepted(row));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

} // namespace ui
