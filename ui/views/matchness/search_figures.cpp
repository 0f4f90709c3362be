// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/matchness/search_figures.h"

#include "ui/language/tr.h"
#include "ui/origin/token_mark.h"

#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace ui {

using engine::DecoderPhase;

namespace {

constexpr double kLeadPart = 0.09; ///< of the room for trials
constexpr double kTailPart = 0.24;
constexpr int kSmallestRoom = 25; ///< trials

/// 25, 50, 100, 150, 200, 300, 400, 500, 600, ..., 1000, 1500, ...: the axis jumps rarely.
double roomFor(int trials) {
    double step = kSmallestRoom;
    while (step * 10.0 < trials)
        step *= 2.0;
    return std::max<double>(kSmallestRoom, std::ceil(trials / step) * step);
}

bool isAccelerating(const SearchLog& search) {
    return !search.phases().empty() && search.phases().back().phase == DecoderPhase::Accelerate;
}

/// The number of search steps after `first` up to `last`, by kind, as texts that add up.
QString countsText(const SearchLog& search, int first, int last) {
    std::array<int, 6> counts{};
    for (const TrialPoint& trial : search.trials())
        if (trial.counts && trial.place > first && trial.place <= last)
            ++counts[static_cast<std::size_t>(trialLook(trial.kind))];
    const std::array<std::pair<TrialLook, QString>, 5> names = {
        {{TrialLook::Random, tr("%1 random")},
         {TrialLook::Bayesian, tr("%1 Bayesian")},
         {TrialLook::Start, tr("%1 start")},
         {TrialLook::Manual, tr("%1 by hand")},
         {TrialLook::Other, tr("%1 other")}}};
    QStringList words;
    for (const auto& [look, name] : names)
        if (const int count = counts[static_cast<std::size_t>(look)]; count > 0)
            words << name.arg(count);
    return words.join(QStringLiteral(" + "));
}

PhaseBand bandOf(const SearchLog& search, const PhaseSpan& phase, int last) {
    PhaseBand band;
    band.from = phase.firstPlace;
    band.to = last;
    switch (phase.phase) {
    case DecoderPhase::Accumulate:
        band.name = tr("fill γ");
        band.shortName = tr("γ");
        band.ground = &Colours::accumulateBand;
        break;
    case DecoderPhase::Optimise: {
        const QString counts = countsText(search, phase.firstPlace, last);
        band.shortName = tr("optimise");
        band.name = counts.isEmpty() ? band.shortName : tr("optimise: %1").arg(counts);
        band.ground = &Colours::optimiseBand;
        break;
    }
    case DecoderPhase::Accelerate:
        band.name = tr("accelerate");
        band.ground = &Colours::accelerateBand;
        break;
    case DecoderPhase::Plain:
        band.ground = &Colours::optimiseBand;
        break;
    }
    return band;
}

/// Phases with trials, neighbours of one kind joined: a search fills its window again with every
/// answer, and no trial happens during that. A trial beside an answer comes before its phase is
/// told.
std::vector<PhaseSpan> phasesWithTrials(const SearchLog& search) {
    std::vector<PhaseSpan> kept;
    const auto& phases = search.phases();
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const int next = i + 1 < phases.size() ? phases[i + 1].firstPlace : search.countedTrials();
        PhaseSpan span = phases[i];
        if (span.phase == DecoderPhase::Accumulate)
            span.phase = DecoderPhase::Optimise;
        const bool hasTrials = next > span.firstPlace;
        if (hasTrials && (kept.empty() || kept.back().phase != span.phase))
            kept.push_back(span);
    }
    return kept;
}

} // namespace

TrialLook trialLook(const std::string& kind) {
    if (kind == "random")
        return TrialLook::Random;
    if (kind == "bayesian")
        return TrialLook::Bayesian;
    if (kind == "start")
        return TrialLook::Start;
    if (kind == "manual")
        return TrialLook::Manual;
    return kind == "rescore" ? TrialLook::Rescore : TrialLook::Other;
}

TrialSign trialSign(TrialLook look) {
    switch (look) {
    case TrialLook::Random:
        return {tr("random"), Marker::HollowCircle, &Colours::axis};
    case TrialLook::Bayesian:
        return {tr("Bayesian"), Marker::FilledDiamond, &Colours::accent};
    case TrialLook::Start:
        return {tr("start"), Marker::HollowTriangle, &Colours::text};
    case TrialLook::Manual:
        return {tr("by hand"), Marker::HollowSquare, &Colours::text};
    case TrialLook::Rescore:
        return {tr("scored again"), Marker::Cross, &Colours::muted};
    case TrialLook::Other:
        break;
    }
    return {tr("other"), Marker::Plus, &Colours::muted};
}

SearchSpan searchSpan(const SearchLog& search) {
    SearchSpan span;
    span.trials = search.countedTrials();
    span.shown =
        isAccelerating(search) ? std::max(span.trials, kSmallestRoom) : roomFor(span.trials);
    span.lead = span.shown * kLeadPart;
    span.tail = isAccelerating(search) ? span.shown * kTailPart : 0.0;
    return span;
}

std::vector<PhaseBand> searchBands(const SearchLog& search, const SearchSpan& span) {
    std::vector<PhaseBand> bands;
    const std::vector<PhaseSpan> phases = phasesWithTrials(search);
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const int last = i + 1 < phases.size() ? phases[i + 1].firstPlace : span.trials;
        bands.push_back(bandOf(search, phases[i], last));
    }
    const auto& all = search.phases();
    if (!all.empty() && all.front().phase == DecoderPhase::Accumulate) {
        PhaseBand lead = bandOf(search, all.front(), 0);
        lead.from = -span.lead;
        lead.to = 0.0;
        bands.insert(bands.begin(), lead);
    }
    if (isAccelerating(search)) {
        PhaseBand tail = bandOf(search, all.back(), span.trials);
        tail.from = span.trials;
        tail.to = span.range().to;
        bands.push_back(tail);
    }
    return bands;
}

QString scoreText(const engine::TrialFinished& trial) {
    const QString score = QString::number(trial.score, 'f', 3);
    if (trial.ticks.empty())
        return score;
    const int matches = std::accumulate(trial.ticks.begin(), trial.ticks.end(), 0);
    return QStringLiteral("%1 / %2 = %3").arg(matches).arg(trial.ticks.size()).arg(score);
}

const engine::TrialFinished* shownTrial(const SearchLog& search, std::optional<int> historyIndex) {
    const auto& sets = search.bestSets();
    const BestSet* set = search.current();
    if (historyIndex && *historyIndex >= 0 && *historyIndex < static_cast<int>(sets.size()))
        set = &sets[static_cast<std::size_t>(*historyIndex)];
    return set != nullptr && set->trial ? &*set->trial : nullptr;
}

std::optional<int> historyIndexAt(const SearchLog& search, double place) {
    const auto& sets = search.bestSets();
    if (sets.empty() || place > search.countedTrials())
        return std::nullopt;
    int index = 0;
    for (std::size_t i = 0; i < sets.size() && sets[i].place <= place + 0.5; ++i)
        index = static_cast<int>(i);
    // As in the history: the newest set is the live one.
    return index + 1 < static_cast<int>(sets.size()) ? std::optional(index) : std::nullopt;
}

std::vector<StripCell> stripCells(const engine::TrialFinished& trial) {
    std::vector<StripCell> cells;
    cells.reserve(trial.ticks.size());
    for (std::size_t i = 0; i < trial.ticks.size(); ++i) {
        StripCell cell;
        cell.isMatch = trial.ticks[i] != 0;
        // Older recordings have only the marks: the position replaces the token.
        cell.token = i < trial.window.size()
                         ? visibleTokenText(QString::fromStdString(trial.window[i]))
                         : QString::number(i + 1);
        if (!cell.isMatch && i < trial.guesses.size())
            cell.guess = visibleTokenText(QString::fromStdString(trial.guesses[i]));
        cells.push_back(std::move(cell));
    }
    return cells;
}

} // namespace ui
