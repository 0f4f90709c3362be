// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/queue/experiment_job.h"

#include <QJsonArray>

#include <algorithm>
#include <array>

namespace ui {

namespace {

struct NamedState {
    JobState state;
    const char* name;
};

constexpr std::array kStates = {NamedState{JobState::Waiting, "waiting"},
                                NamedState{JobState::Running, "running"},
                                NamedState{JobState::Paused, "paused"},
                                NamedState{JobState::Stopped, "stopped"},
                                NamedState{JobState::Finished, "finished"},
                                NamedState{JobState::Failed, "failed"}};

} // namespace

QJsonObject toJson(const ExperimentJob& job) {
    QJsonObject object{{QStringLiteral("id"), job.id},
                       {QStringLiteral("title"), job.title},
                       {QStringLiteral("recipe"), job.recipe},
                       {QStringLiteral("folder"), job.folder},
                       {QStringLiteral("arguments"), QJsonArray::fromStringList(job.arguments)}};
    const auto* state = std::ranges::find(kStates, job.state, &NamedState::state);
    object[QStringLiteral("state")] = QLatin1String(state->name);
    if (!job.source.isEmpty())
        object[QStringLiteral("source")] = job.source;
    if (!job.sentence.isEmpty())
        object[QStringLiteral("sentence")] = job.sentence;
    if (job.endedAt.isValid())
        object[QStringLiteral("ended_utc")] = job.endedAt.toString(Qt::ISODate);
    if (!job.outcome.isEmpty()) {
        object[QStringLiteral("outcome")] = job.outcome;
        object[QStringLiteral("is_gain")] = job.isGain;
    }
    return object;
}

std::optional<ExperimentJob> jobFrom(const QJsonObject& object) {
    const auto text = [&](const char* name) { return object[QLatin1String(name)].toString(); };
    ExperimentJob job;
    job.id = text("id");
    job.title = text("title");
    job.recipe = text("recipe");
    job.folder = text("folder");
    job.source = text("source");
    if (job.id.isEmpty() || job.recipe.isEmpty() || job.folder.isEmpty())
        return std::nullopt;
    for (const QJsonValue& word : object[QStringLiteral("arguments")].toArray())
        job.arguments << word.toString();
    const QString state = text("state");
    const auto* known = std::ranges::find_if(
        kStates, [&](const NamedState& named) { return state == QLatin1String(named.name); });
    job.state = known == kStates.end() ? JobState::Stopped : known->state;
    job.sentence = text("sentence");
    job.endedAt = QDateTime::fromString(text("ended_utc"), Qt::ISODate);
    job.outcome = text("outcome");
    job.isGain = object[QStringLiteral("is_gain")].toBool(true);
    return job;
}

} // namespace ui
