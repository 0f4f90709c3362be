// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/tune_words.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

#include <QDir>

#include <cmath>

namespace ui {

namespace {

QString percentText(double part) {
    return QStringLiteral("%1 %").arg(static_cast<int>(std::floor(part * 100.0)));
}

QString withTuningTimeLeft(const QString& text, const std::optional<double>& seconds) {
    return seconds ? tr("%1 · %2 left").arg(text, timeText(*seconds)) : text;
}

QString runningText(const TuningRun& run) {
    switch (run.phase) {
    case TuningPhase::Preparing:
        return run.step || run.collected ? tr("goes on where it was")
                                         : tr("reads prompts and model");
    case TuningPhase::Collecting:
        return tr("the model answers the prompts");
    case TuningPhase::Training:
        return run.step ? tr("step %1 of %2")
                              .arg(numberText(run.step->step), numberText(run.step->steps))
                        : tr("trains");
    case TuningPhase::Over:
        break;
    }
    return tr("writes the result");
}

QString rightText(const DraftScore& score) {
    const auto share = static_cast<qint64>(std::lround(score.acceptance.front() * 100.0));
    return tr("%1 of 100 first drafted tokens are right.").arg(share);
}

TuningFinding outcome(const TuningSession& session) {
    const TuningDone& done = *session.run().done;
    TuningFinding finding;
    finding.headline = tr("With drafts of three tokens, a round writes %1 tokens instead of one.")
                           .arg(done.all.tokensPerRound, 0, 'f', 2);
    QStringList cause{rightText(done.all)};
    if (!done.isHeldOut)
        cause << tr("These are figures of answers that were trained on, because none was held "
                    "out: more prompts give true ones.");
    if (session.isResultUsed())
        cause << tr("It is used from the next load of the model on.");
    else if (session.choice().isUsed)
        cause << tr("It was removed and is not used.");
    else
        cause << tr("It is not used; it lies in %1.").arg(QDir::toNativeSeparators(done.path));
    finding.cause = cause.join(QLatin1Char(' '));
    return finding;
}

} // namespace

QString timeText(double seconds) {
    const auto whole = static_cast<qint64>(std::max(0.0, seconds));
    if (whole < 60)
        return tr("%1 s").arg(whole);
    const qint64 minutes = whole / 60;
    return minutes < 60 ? tr("%1 min").arg(minutes)
                        : tr("%1 h %2 min").arg(minutes / 60).arg(minutes % 60);
}

QString tuningStateText(const TuningSession& session) {
    QString text;
    switch (session.state()) {
    case TuningState::None:
        return {};
    case TuningState::Running:
        text = session.isHeld() ? tr("waits while an answer streams") : runningText(session.run());
        break;
    case TuningState::Paused:
        text = tr("paused");
        break;
    case TuningState::Stopping:
        text = tr("saves what it has");
        break;
    case TuningState::Stopped:
        text =
            session.hasWork() ? tr("stopped, can go on") : tr("stopped before anything was stored");
        break;
    case TuningState::Failed:
        text = tr("failed");
        break;
    case TuningState::Finished:
        return session.run().done
                   ? tr("finished, took %1").arg(timeText(session.run().done->seconds))
                   : tr("finished");
    }
    if (session.savedAt().isValid())
        text =
            tr("%1 · saved at %2").arg(text, session.savedAt().toString(QStringLiteral("HH:mm")));
    return text;
}

QString tuningNoteText(const TuningSession& session) {
    if (!session.isAtWork())
        return {};
    if (session.state() != TuningState::Running || session.isHeld())
        return tuningStateText(session);
    const TuningRun& run = session.run();
    if (run.phase == TuningPhase::Collecting && run.collected)
        return tr("collects · %1")
            .arg(withTuningTimeLeft(percentText(run.collectedPart()), run.collected->secondsLeft));
    if (run.phase == TuningPhase::Training && run.step)
        return tr("trains · %1")
            .arg(withTuningTimeLeft(percentText(run.step->part()), run.step->secondsLeft));
    return runningText(run);
}

QString collectText(const TuningRun& run) {
    if (!run.collected)
        return {};
    const QString tokens = countText(run.collected->answerTokens, tr("1 token"), tr("%1 tokens"));
    const QString prompts = countText(run.collected->prompts, tr("1 prompt"), tr("%1 prompts"));
    const QString sum = tr("%1, %2").arg(prompts, tokens);
    return run.phase == TuningPhase::Collecting
               ? tr("%1 · %2").arg(sum,
                                   withTuningTimeLeft(percentText(run.collectedPart()),
                                                      run.collected->secondsLeft))
               : sum;
}

QString trainText(const TuningRun& run) {
    if (!run.step)
        return {};
    if (run.phase == TuningPhase::Over)
        return countText(run.step->step, tr("1 step"), tr("%1 steps"));
    return withTuningTimeLeft(percentText(run.step->part()),
                              run.phase == TuningPhase::Training ? run.step->secondsLeft
                                                                 : std::nullopt);
}

QString obstacleText(TuningObstacle obstacle) {
    switch (obstacle) {
    case TuningObstacle::NoProgram:
        return tr("The program swift-run, which trains, is not beside this one: install SWIFT "
                  "Studio again.");
    case TuningObstacle::NoTrainer:
        return tr("SWIFT Studio was built without LibTorch, so it cannot train: build it with "
                  "LibTorch, as installer/run.sh does.");
    case TuningObstacle::NoModel:
        return tr("No model is loaded: a draft layer is trained for the model that is.");
    case TuningObstacle::None:
    case TuningObstacle::AtWork:
        break;
    }
    return {};
}

TuningFinding tuningFinding(const TuningSession& session) {
    if (session.state() == TuningState::Finished && session.run().done)
        return outcome(session);
    const TuningEvaluation* best = session.run().best();
    if (best == nullptr)
        return {};
    return {tr("The best state so far, step %1, writes %2 tokens a round.")
                .arg(numberText(best->step))
                .arg(best->all.tokensPerRound, 0, 'f', 2),
            rightText(best->all)};
}

} // namespace ui
