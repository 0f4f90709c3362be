// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/training/draft_training.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace engine {

namespace {

/// Steps that decide how many there can be in the time given; fewer where they take this share of
/// it.
constexpr int kTimedSteps = 20;
constexpr double kTimedShare = 0.1;

/// A good state is kept so often.
constexpr std::int64_t kGoodSteps = 500;

constexpr int kMostWorse = 6;
constexpr int kMostFailures = 2;

/// Of the time, for steps and evaluations; the rest is for checkpoints and what measuring misses.
constexpr double kUsedTime = 0.95;

/// Texts whose evaluation tells what a whole one takes.
constexpr std::size_t kTimedTexts = 8;

class DraftTraining {
public:
    DraftTraining(const TrainingWork& work, std::vector<TextPlace> texts, TextOrder order)
        : m_work(work)
        , m_texts(std::move(texts))
        , m_order(std::move(order)) {
        const int rows = work.plan.validationRows;
        m_validation = textsToEvaluate(work.rows, RowSplit::Validation, rows, work.plan.seed);
        m_isHeldOut = !m_validation.empty();
        if (!m_isHeldOut)
            m_validation = textsToEvaluate(work.rows, RowSplit::Training, rows, work.plan.seed);
    }

    Result<TrainingResult> run() {
        ENGINE_TRY_DO(begin());
        while (true) {
            ENGINE_TRY_DO(evaluateIfDue());
            if (m_now.place.step % kGoodSteps == 0 && m_now.place.goodStep != m_now.place.step) {
                m_now.place.goodStep = m_now.place.step;
                ENGINE_TRY_DO(writeCheckpoint(true));
            }
            if (m_now.place.step >= m_now.place.schedule.steps)
                break;
            if (m_work.stop.stop_requested())
                return stopped();
            if (m_work.nowMs() - m_checkpointMs >= m_work.checkpointMinutes * 60e3)
                ENGINE_TRY_DO(writeCheckpoint(false));
            ENGINE_TRY_DO(makeStep());
            if (m_failure)
                break;
            ENGINE_TRY_DO(fixSteps());
        }
        ENGINE_TRY_DO(writeCheckpoint(false));
        if (m_failure && !m_now.place.best)
            return *m_failure;
        return TrainingResult{.weights = std::move(m_now.best),
                              .best = *m_now.place.best,
                              .isHeldOut = m_isHeldOut,
                              .steps = m_now.place.step,
                              .seconds = m_now.place.seconds,
                              .failure = m_failure};
    }

private:
    Result<void> begin() {
        m_clockMs = m_checkpointMs = m_work.nowMs();
        ENGINE_TRY(auto found, m_work.checkpoints.newest(m_work.watch.noted));
        if (found) {
            m_now = std::move(*found);
            ENGINE_TRY_DO(m_work.trainer.restore(m_now.trainer));
            m_now.trainer.clear();
            m_order.moveTo(m_now.place.order);
            takeMinutes();
            return {};
        }
        if (!m_isHeldOut)
            note("No answers are held out, so the figures are those of texts that were trained "
                 "on: more prompts are needed.");
        std::int64_t steps = m_order.stepsOf(m_work.plan.epochs);
        if (m_work.plan.steps > 0)
            steps = m_work.plan.steps;
        m_now.place.schedule = scheduleOf(steps);
        m_now.place.isFixed = m_work.plan.minutes <= 0.0 || m_work.plan.steps > 0;
        m_now.place.minutes = m_work.plan.minutes;
        return {};
    }

    Schedule scheduleOf(std::int64_t steps) const {
        return makeSchedule(steps, m_work.plan.rate, m_work.plan.streamLoss);
    }

    /// With other minutes than before, time decides once more how many steps there are. One that
    /// has ended, or ends soon because nothing was better, has no use for fewer, or for more.
    void takeMinutes() {
        TrainingPlace& place = m_now.place;
        const double before = place.minutes;
        const bool isLess = m_work.plan.minutes <= before;
        const bool hasEnded = place.step >= place.schedule.steps;
        if (before > 0.0 && hasEnded && isLess)
            return; // more than it had is what it needs to go on
        place.minutes = m_work.plan.minutes;
        const bool endsEarly = place.schedule.steps < place.schedule.planned;
        const bool isKnown = before > 0.0; // earlier versions did not store theirs
        if (!isKnown || place.minutes == before || m_work.plan.steps > 0 || endsEarly)
            return;
        place.schedule = scheduleOf(m_order.stepsOf(m_work.plan.epochs));
        place.isFixed = false;
    }

    void note(const std::string& sentence) const {
        if (m_work.watch.noted)
            m_work.watch.noted(sentence);
    }

    /// Adds the time since the last call to that of the training.
    void takeTime() {
        const double now = m_work.nowMs();
        m_now.place.seconds += (now - m_clockMs) / 1e3;
        m_clockMs = now;
    }

    Result<void> writeCheckpoint(bool isGood) {
        takeTime();
        m_now.place.order = m_order.place();
        m_now.trainer = m_work.trainer.state();
        const auto written = m_work.checkpoints.write(m_now, isGood);
        m_now.trainer.clear();
        ENGINE_TRY(const std::filesystem::path path, written);
        m_checkpointMs = m_work.nowMs();
        if (m_work.watch.checkpointed)
            m_work.watch.checkpointed(path);
        return {};
    }

    Result<TrainingResult> stopped() {
        ENGINE_TRY_DO(writeCheckpoint(false));
        return Error{ErrorCode::Cancelled, "The training was stopped.", "Go on with --resume."};
    }

    /// Of these texts of the validation; their time tells what all of them take.
    Result<Evaluation> evaluate(std::span<const TextPlace> texts) {
        const double startMs = m_work.nowMs();
        auto made = evaluateDrafts(m_work.trainer, m_work.rows, texts, m_work.stop);
        if (made) {
            m_evaluationMs += (m_work.nowMs() - startMs) *
                              static_cast<double>(m_validation.size()) /
                              static_cast<double>(texts.size());
            ++m_evaluations;
        }
        return made;
    }

    Result<void> evaluateIfDue() {
        TrainingPlace& place = m_now.place;
        const bool isEnd = place.step >= place.schedule.steps;
        const bool isDue = place.step > 0 && place.step % m_work.plan.validationSteps == 0;
        if (place.evaluated == place.step || (!isDue && !isEnd))
            return {};
        auto made = evaluate(m_validation);
        if (!made && made.error().code == ErrorCode::Cancelled)
            ENGINE_TRY_DO(writeCheckpoint(false));
        ENGINE_TRY(Evaluation evaluation, std::move(made));
        evaluation.step = place.step;
        place.evaluated = place.step;
        const bool isBest =
            !place.best || evaluation.tokensPerRound() > place.best->tokensPerRound();
        place.worse = isBest ? 0 : place.worse + 1;
        if (isBest) {
            place.best = evaluation;
            m_now.best = m_work.trainer.result();
        }
        if (m_work.watch.evaluated)
            m_work.watch.evaluated(evaluation, isBest);
        // Time would decide anew how many steps there are, if it has not done so yet.
        if (place.isFixed && place.worse >= kMostWorse && place.step < place.schedule.decayStart) {
            place.schedule = place.schedule.endedFrom(place.step);
            note(fmt::format("Nothing was better than step {} {} times, so the training ends at "
                             "step {} instead of {}.",
                             place.best->step,
                             place.worse,
                             place.schedule.steps,
                             place.schedule.planned));
        }
        return {};
    }

    Result<void> makeStep() {
        const double startMs = m_work.nowMs();
        std::vector<TrainingRows> rows;
        std::int64_t answerRows = 0;
        const auto before = m_order.place();
        for (const int text : m_order.next()) {
            ENGINE_TRY(const AnswerRows stored, m_work.rows.read(m_texts[toSize(text)]));
            rows.emplace_back(stored, m_work.rows.hiddenSize());
            answerRows += stored.answerRows();
        }
        std::vector<TrainingText> texts;
        for (const TrainingRows& each : rows)
            texts.push_back(each.view());
        StepTerms terms = m_now.place.schedule.at(m_now.place.step);
        terms.rate *= m_now.place.rateFactor;
        terms.stop = m_work.stop;
        const auto losses = m_work.trainer.step(texts, terms);
        if (!losses) {
            m_order.moveTo(before); // the step is made anew when the training goes on
            return losses.error().code == ErrorCode::Cancelled ? Result<void>()
                                                               : goBack(losses.error());
        }
        ++m_now.place.step;
        ++m_timedSteps;
        m_stepMs += m_work.nowMs() - startMs;
        m_answerRows += answerRows;
        if (m_work.watch.stepped)
            m_work.watch.stepped({.step = m_now.place.step,
                                  .steps = m_now.place.schedule.steps,
                                  .losses = losses.value(),
                                  .rate = terms.rate,
                                  .tokensPerSecond = tokensPerSecond(),
                                  .secondsLeft = secondsLeft()});
        return {};
    }

    double tokensPerSecond() const {
        return m_stepMs > 0.0 ? static_cast<double>(m_answerRows) / m_stepMs * 1e3 : 0.0;
    }

    /// Until so many steps are made, with the evaluations up to then, of which that of the newest
    /// step is still to come.
    double secondsUntil(std::int64_t steps) const {
        const std::int64_t step = m_now.place.step;
        const double left = static_cast<double>(steps - step) * m_stepMs / 1e3 / m_timedSteps;
        if (m_evaluations == 0)
            return left / kUsedTime;
        const std::int64_t between = m_work.plan.validationSteps;
        const std::int64_t evaluations = (steps + between - 1) / between - (step - 1) / between;
        return left + static_cast<double>(evaluations) * m_evaluationMs / 1e3 / m_evaluations;
    }

    /// What is left of the time that was given.
    double givenSeconds() const {
        const double passed = m_now.place.seconds + (m_work.nowMs() - m_clockMs) / 1e3;
        return std::max(0.0, m_work.plan.minutes * 60.0 - m_work.secondsBefore - passed);
    }

    /// Until time has decided how many steps there are, no more than the time that was given.
    double secondsLeft() const {
        const double left = secondsUntil(m_now.place.schedule.steps);
        return m_now.place.isFixed ? left : std::min(left, givenSeconds());
    }

    /// The best state is the result, if there is one. Who goes on from here has all tries again.
    void giveUp(const Error& error) {
        const std::string end =
            m_now.place.best ? fmt::format(", so the training has ended with the state of step {}.",
                                           m_now.place.best->step)
                             : ", before any state was judged.";
        m_failure = Error{ErrorCode::Numeric,
                          fmt::format("{} This was the third time{}", error.message, end),
                          fmt::format("Train anew on the same answers with a lower rate: "
                                      "--retrain --set rate={:.3g}.",
                                      m_work.plan.rate / 10)};
        m_now.place.failures = 0;
    }

    /// A loss that is not finite says nothing about which step was at fault.
    Result<void> goBack(const Error& error) {
        if (error.code != ErrorCode::Numeric)
            return error;
        const int failures = m_now.place.failures + 1;
        if (failures > kMostFailures) {
            giveUp(error);
            return {};
        }
        const double factor = m_now.place.rateFactor / 2;
        ENGINE_TRY(Checkpoint good, m_work.checkpoints.good());
        ENGINE_TRY_DO(m_work.trainer.restore(good.trainer));
        note(fmt::format("{} The training goes on from step {} at a rate of {:.3g}.",
                         error.message,
                         good.place.step,
                         m_work.plan.rate * factor));
        good.place.seconds = m_now.place.seconds;
        const bool isDecidedAnew =
            good.place.minutes > 0.0 && good.place.minutes != m_now.place.minutes;
        if (good.place.isFixed != m_now.place.isFixed || isDecidedAnew) { // it is decided once
            good.place.schedule = scheduleOf(m_now.place.schedule.planned);
            good.place.isFixed = m_now.place.isFixed;
        }
        good.place.minutes = m_now.place.minutes;
        good.place.best = m_now.place.best; // the best weights stay
        good.best = std::move(m_now.best);
        good.trainer.clear();
        m_now = std::move(good);
        m_now.place.failures = failures;
        m_now.place.rateFactor = factor;
        m_order.moveTo(m_now.place.order);
        return {};
    }

    /// Time decides once how many steps there are.
    Result<void> fixSteps() {
        TrainingPlace& place = m_now.place;
        if (place.isFixed || m_timedSteps == 0)
            return {};
        if (m_timedSteps < kTimedSteps && m_stepMs / 1e3 < givenSeconds() * kTimedShare)
            return {};
        if (m_evaluations == 0) {
            const std::size_t count = std::min(kTimedTexts, m_validation.size());
            const auto timed = evaluate(std::span(m_validation).first(count));
            if (!timed && timed.error().code == ErrorCode::Cancelled)
                return {}; // the training is stopped before it is decided
            ENGINE_TRY_DO(timed);
        }
        const double used = givenSeconds() * kUsedTime;
        std::int64_t steps = std::min(place.step + 1, place.schedule.steps); // at least
        for (std::int64_t tooMany = place.schedule.steps + 1; steps + 1 < tooMany;) {
            const std::int64_t middle = (steps + tooMany) / 2;
            (secondsUntil(middle) <= used ? steps : tooMany) = middle;
        }
        place.schedule = scheduleOf(steps);
        place.isFixed = true;
        return writeCheckpoint(false);
    }

    const TrainingWork& m_work;
    std::vector<TextPlace> m_texts; // of training
    std::vector<TextPlace> m_validation;
    bool m_isHeldOut;
    TextOrder m_order;
    Checkpoint m_now;               // its trainer's arrays only while it is written
    std::optional<Error> m_failure; // for which the training was given up
    double m_clockMs = 0.0;
    double m_checkpointMs = 0.0;
    int m_timedSteps = 0;
    double m_stepMs = 0.0;
    int m_evaluations = 0; // of this run
    double m_evaluationMs = 0.0;
    std::int64_t m_answerRows = 0;
};

} // namespace

Result<TrainingResult> trainDrafts(const TrainingWork& work) {
    std::vector<TextPlace> texts = work.rows.texts(RowSplit::Training);
    if (texts.empty())
        return Error{ErrorCode::InvalidInput,
                     "There are no answers to train on.",
                     "Give more prompts, or prompts with longer answers."};
    std::vector<int> rows;
    for (const TextPlace place : texts)
        rows.push_back(work.rows.facts(place).rows);
    TextOrder order(std::move(rows), work.plan.stepRows, work.plan.seed);
    return DraftTraining(work, std::move(texts), std::move(order)).run();
}

} // namespace engine
