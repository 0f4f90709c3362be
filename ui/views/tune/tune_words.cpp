// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/tune_words.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"
#include "ui/views/tune/recipe/recipe_words.h"

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
    case TuningPhase::Writing:
        return tr("the model writes prompts");
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

/// What drafts of three tokens alone would give at the prices of this computer.
void addEstimate(QStringList& cause, const TuningRun& run, const DraftScore& score) {
    const auto round = run.prices ? run.prices->round(3) : std::nullopt;
    if (round)
        cause << tr("Such a round costs %1 plain steps here, so drafts of three alone would be %2 "
                    "times as fast as plain decoding; Auto drafts only where it pays.")
                     .arg(*round, 0, 'f', 2)
                     .arg(score.tokensPerRound / *round, 0, 'f', 2);
}

/// Empty until it is known.
QString useText(const TuningSession& session) {
    const QString path = QDir::toNativeSeparators(session.run().done->path);
    switch (session.adapterUse().used()) {
    case AdapterUse::Used::Unknown:
        break;
    case AdapterUse::Used::Result:
        return tr("It is used once the model is loaded again.");
    case AdapterUse::Used::Other:
        return tr("It is not used, as the model has another adapter; it lies in %1.").arg(path);
    case AdapterUse::Used::None:
        return tr("It is not used; it lies in %1.").arg(path);
    }
    return {};
}

void addUse(TuningFinding& finding, const TuningSession& session) {
    if (const QString use = useText(session); !use.isEmpty())
        finding.cause += QLatin1Char(' ') + use;
}

/// How long it took; of answers that an earlier run has collected that is not known.
QString finishedText(const TuningDone& done) {
    return (done.hasAllSeconds ? tr("finished, took %1") : tr("finished, trained for %1"))
        .arg(timeText(done.seconds));
}

/// Whether texts were those of plain decoding.
QString textsText(const ComparedSum& all) {
    return all.differing == 0 ? tr("All texts were equal, token for token.")
           : all.prompts == 1
               ? tr("Its text was not the one of plain decoding.")
               : tr("%1 of %2 prompts had a text that was not the one of plain decoding.")
                     .arg(numberText(all.differing), numberText(all.prompts));
}

/// Of a training that has no result yet.
QString halfTrainedText(const TuningSession& session, const TuningBest& best) {
    const auto share = static_cast<qint64>(std::lround(best.score.acceptance.front() * 100.0));
    const QString right =
        best.isHeldOut
            ? tr("%1 of 100 first drafted tokens of held-out answers are right.").arg(share)
            : tr("%1 of 100 first drafted tokens are right, of answers that were trained on.")
                  .arg(share);
    const QString use =
        session.isResultUsed()
            ? tr("It is used once the model is loaded again.")
            : tr("It can be used now, before the training is over, and changes no text.");
    return right + QLatin1Char(' ') + use;
}

TuningFinding outcome(const TuningSession& session) {
    const TuningDone& done = *session.run().done;
    TuningFinding finding;
    finding.headline = tr("With drafts of three tokens, a round writes %1 tokens instead of one.")
                           .arg(done.all.tokensPerRound, 0, 'f', 2);
    QStringList cause{rightText(done.all)};
    addEstimate(cause, session.run(), done.all);
    if (!done.isHeldOut)
        cause << tr("There were too few answers to hold some out, so these figures are of answers "
                    "that were trained on and are too good: add more prompts to get true ones.");
    finding.cause = cause.join(QLatin1Char(' '));
    addUse(finding, session);
    return finding;
}

} // namespace

QString timeText(double seconds) {
    const auto whole = static_cast<qint64>(std::max(0.0, seconds));
    if (whole < 60)
        return tr("%1 s").arg(whole);
    const qint64 minutes = whole / 60;
    if (minutes < 60)
        return tr("%1 min").arg(minutes);
    return minutes % 60 == 0 ? tr("%1 h").arg(minutes / 60)
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
        return session.run().done ? finishedText(*session.run().done) : tr("finished");
    }
    if (session.savedAt().isValid())
        text =
            tr("%1 · saved at %2").arg(text, session.savedAt().toString(QStringLiteral("HH:mm")));
    return text;
}

QString tuningNoteText(const TuningSession& session) {
    if (session.comparison().isRunning())
        return session.comparison().isHeld()
                   ? comparisonText(session.comparison())
                   : tr("compares · %1").arg(comparisonText(session.comparison()));
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
    if (!run.collected && run.selfPrompts)
        return countText(run.selfPrompts->planned,
                         tr("%2 of 1 prompt written"),
                         tr("%2 of %1 prompts written"))
            .arg(numberText(run.selfPrompts->written));
    if (!run.collected)
        return {};
    const QString tokens = countText(run.collected->answerTokens, tr("1 token"), tr("%1 tokens"));
    const QString prompts =
        countText(run.earlierPrompts + run.collected->prompts, tr("1 prompt"), tr("%1 prompts"));
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
        return tr("No model is loaded: load the model that you want to make faster.");
    case TuningObstacle::None:
    case TuningObstacle::AtWork:
        break;
    }
    return {};
}

QString comparisonText(const AdapterComparison& comparison) {
    const ComparedPrompts& prompts = comparison.prompts();
    const auto count = static_cast<qint64>(prompts.prompts().size());
    if (comparison.state() == ComparisonState::Done)
        return countText(count, tr("1 prompt"), tr("%1 prompts"));
    if (comparison.isHeld())
        return tr("waits while an answer streams");
    if (!comparison.isRunning() && count == 0)
        return {};
    if (prompts.planned() == 0)
        return tr("the first prompt");
    return countText(prompts.planned(), tr("%1 of 1 prompt"), tr("%2 of %1 prompts"))
        .arg(numberText(count));
}

TuningFinding comparisonFinding(const ComparedPrompts& prompts) {
    const ComparedSum all = prompts.all();
    TuningFinding finding;
    finding.headline = countText(all.prompts,
                                 tr("On 1 prompt that was not trained on, Auto is %1 times as fast "
                                    "as plain decoding with the draft layer, and %2 times "
                                    "without it."),
                                 tr("On %1 prompts that were not trained on, Auto is %2 times as "
                                    "fast as plain decoding with the draft layer, and %3 times "
                                    "without it."))
                           .arg(decimalText(all.with), decimalText(all.without));
    QStringList cause;
    if (const auto gain = prompts.gain()) {
        const QString range =
            tr("%1 times as fast with it as without (95 % interval: %2 to %3)")
                .arg(decimalText(gain->gain), decimalText(gain->low), decimalText(gain->high));
        if (gain->low > 1.0) {
            finding.kind = engine::VerdictKind::Gain;
            cause << tr("It pays: %1.").arg(range);
        } else if (gain->high < 1.0) {
            finding.kind = engine::VerdictKind::NoGain;
            cause << tr("It does not pay on this computer: %1. Remove it, or train it longer and "
                        "on more prompts.")
                         .arg(range);
        } else {
            finding.kind = engine::VerdictKind::NoGain;
            cause << tr("Whether it pays is not sure: %1.").arg(range);
        }
    } else {
        cause << tr("These are too few prompts to rely on: %1 or more give a figure.")
                     .arg(ComparedPrompts::kFewestForGain);
    }
    cause << textsText(all);
    finding.cause = cause.join(QLatin1Char(' '));
    return finding;
}

TuningFinding copyComparisonFinding(const ComparedPrompts& prompts,
                                    TuningRecipe recipe,
                                    const TuningQuality* quality) {
    const ComparedSum all = prompts.all();
    TuningFinding finding;
    finding.headline = countText(all.prompts,
                                 tr("On 1 prompt that was not trained on, %1 is %2 times as fast "
                                    "as plain decoding of the copy, and %3 times as fast as plain "
                                    "decoding of the model."),
                                 tr("On %1 prompts that were not trained on, %2 is %3 times as "
                                    "fast as plain decoding of the copy, and %4 times as fast as "
                                    "plain decoding of the model."))
                           .arg(recipeName(recipe),
                                decimalText(all.with),
                                decimalText(all.without > 0.0 ? all.with / all.without : 0.0));
    QStringList cause;
    const bool isWorse = quality != nullptr && !quality->isKept;
    if (quality != nullptr)
        cause << (isWorse ? tr("The copy is worse than the model: %1.") : tr("The copy has %1."))
                     .arg(perplexityText(*quality));
    if (all.score && all.scoreBefore)
        cause << tr("Its answers score %1, those of the model %2.")
                     .arg(shareText(*all.score), shareText(*all.scoreBefore));
    if (const auto gain = prompts.gainOverPlain()) {
        const QString range =
            tr("%1 times as fast as its own plain decoding (95 % interval: %2 to %3)")
                .arg(decimalText(gain->gain), decimalText(gain->low), decimalText(gain->high));
        finding.kind =
            gain->low > 1.0 && !isWorse ? engine::VerdictKind::Gain : engine::VerdictKind::NoGain;
        cause << (gain->low > 1.0    ? tr("What it drafts pays: %1.")
                  : gain->high < 1.0 ? tr("What it drafts does not pay on this computer: %1.")
                                     : tr("Whether what it drafts pays is not sure: %1."))
                     .arg(range);
    } else {
        cause << tr("These are too few prompts to rely on: %1 or more give a figure.")
                     .arg(ComparedPrompts::kFewestForGain);
    }
    cause << textsText(all);
    finding.cause = cause.join(QLatin1Char(' '));
    return finding;
}

TuningFinding tuningFinding(const TuningSession& session) {
    if (session.isComparisonOwn() && session.comparison().isMeasured() && session.run().done) {
        const ComparedPrompts& prompts = session.comparison().prompts();
        const auto& quality = session.run().done->quality;
        if (session.choice().changesModel())
            return copyComparisonFinding(prompts, session.recipe(), quality ? &*quality : nullptr);
        TuningFinding finding = comparisonFinding(prompts);
        addUse(finding, session);
        return finding;
    }
    if (session.hasResult() && session.run().done)
        return session.run().done->quality ? copyFinding(session) : outcome(session);
    const TuningEvaluation* best = session.run().best();
    if (best == nullptr)
        return {};
    const TuningBest* half = session.halfTrained();
    QStringList cause{half != nullptr ? halfTrainedText(session, *half) : rightText(best->all)};
    addEstimate(cause, session.run(), best->all);
    return {
        tr("The best state so far, step %1, writes %2 tokens a round.")
            .arg(numberText(half != nullptr ? half->step : best->step))
            .arg(
                half != nullptr ? half->score.tokensPerRound : best->all.tokensPerRound, 0, 'f', 2),
        cause.join(QLatin1Char(' '))};
}

} // namespace ui
