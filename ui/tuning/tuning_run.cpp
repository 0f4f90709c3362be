// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/tuning_run.h"

#include <algorithm>
#include <utility>

namespace ui {

namespace {

/// One by one into the run; see TuningRun::apply().
class RunWriter {
public:
    explicit RunWriter(TuningRun& run)
        : m_run(run) {}

    void operator()(const TuningStarted& started) {
        m_run.facts = started;
        m_run.phase = TuningPhase::Preparing;
        if (m_run.collected)
            m_run.earlierPrompts += std::exchange(m_run.collected->prompts, 0);
        m_run.done.reset();
        m_run.error.reset();
    }

    void operator()(const TuningPrices& prices) { m_run.prices = prices; }

    void operator()(const TuningSelfPrompts& prompts) {
        m_run.selfPrompts = prompts;
        m_run.phase = TuningPhase::Writing;
    }

    void operator()(const TuningCollected& collected) {
        m_run.collected = collected;
        m_run.phase = TuningPhase::Collecting;
    }

    void operator()(const TuningStep& step) {
        std::erase_if(m_run.losses, [&](const LossPoint& old) { return old.step >= step.step; });
        // That of the state behind this step may have come before.
        std::erase_if(m_run.evaluations,
                      [&](const TuningEvaluation& old) { return old.step > step.step; });
        m_run.losses.push_back({step.step, step.loss, step.drafting});
        m_run.step = step;
        m_run.phase = TuningPhase::Training;
    }

    void operator()(const TuningEvaluation& evaluation) {
        std::erase_if(m_run.evaluations,
                      [&](const TuningEvaluation& old) { return old.step >= evaluation.step; });
        m_run.evaluations.push_back(evaluation);
        m_run.phase = TuningPhase::Training;
    }

    void operator()(const TuningCheckpoint&) { m_run.phase = TuningPhase::Training; }

    void operator()(const TuningBest& best) {
        m_run.kept = best;
        m_run.phase = TuningPhase::Training;
    }

    void operator()(const TuningNote& note) {
        constexpr qsizetype kMost = 100;
        if (m_run.notes.size() < kMost)
            m_run.notes << note.text;
        else
            m_run.notes.back() = note.text;
    }

    void operator()(const TuningDone& done) {
        m_run.done = done;
        m_run.kept.reset();
        m_run.phase = TuningPhase::Over;
    }

    void operator()(const TuningError& error) { m_run.error = error; }

private:
    TuningRun& m_run;
};

} // namespace

void TuningRun::apply(const TuningEvent& event) { std::visit(RunWriter(*this), event); }

const TuningEvaluation* TuningRun::best() const {
    const auto found = std::find_if(evaluations.rbegin(),
                                    evaluations.rend(),
                                    [](const TuningEvaluation& one) { return one.isBest; });
    return found == evaluations.rend() ? nullptr : &*found;
}

std::vector<double> TuningRun::exits() const {
    if (done)
        return done->exits;
    return newest() != nullptr ? newest()->exits : std::vector<double>();
}

double TuningRun::collectedPart() const {
    if (!collected)
        return 0.0;
    const double seconds = facts ? facts->minutes * 60.0 * kCollectShare : 0.0;
    if (seconds <= 0.0 || !collected->secondsLeft)
        return collected->part();
    return std::clamp(1.0 - *collected->secondsLeft / seconds, collected->part(), 1.0);
}

} // namespace ui
