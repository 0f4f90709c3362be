// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/swift_run.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QProcess>
#include <QTemporaryDir>

#include <csignal>
#include <optional>

namespace test_support {

/// An experiment of ten shards on a tiny model: for each of five tasks a skip set is searched, and
/// in a second stage that set drafts. Nothing in its tables and figures depends on times, so drafts
/// are not weighed by theirs.
class SmallExperiment {
public:
    SmallExperiment() {
        const auto config = support::letterConfig(6);
        auto weights = support::randomWeights(config, 3);
        support::writeFolderModel(path("model").toStdString(), config, weights);
        std::string lines;
        for (int task = 0; task < kTasks; ++task)
            for (const char* prompt : {"abc ab", "da be", "cab dab", "ee ab"})
                lines += fmt::format(R"({{"prompt":"{}","task":"task {}"}})", prompt, task) + "\n";
        support::writeText(path("data.jsonl").toStdString(), lines);
        support::writeText(path("small.swiftexp").toStdString(), R"({
            "format": "swift-experiment", "version": 1,
            "name": "small", "title": "Small", "summary": "It has ten shards.",
            "caveat": "Its model is made up.",
            "stages": [
              {"name": "find", "baseline": false, "twice": false,
               "variants": [{"name": "found",
                             "search": {"method": "random", "trials": 40, "max_tokens": 40}}]},
              {"name": "run",
               "variants": [{"name": "swift", "decoder": "swift", "set_from": "found",
                             "settings": {"optimise": false, "lower_below": 0,
                                          "restart_drop": 0, "weigh": false}}]}],
            "sizes": {"quick": {"prompts_per_task": 2, "max_tokens": 200}},
            "tables": [{"id": "main", "title": "Answers", "rows": "variant_task",
                        "columns": ["answers", "equal", "M", "acceptance", "tokens"]}],
            "figures": [{"id": "rounds", "title": "Rounds", "kind": "dots", "x": "task",
                         "y": ["M"], "series": "variant"}],
            "verdict": {"kind": "equal", "measure": "equal"}})");
    }

    QString path(const QString& name) const { return m_folder.filePath(name); }

    /// The command that runs it into a folder of this name.
    QStringList command(const QString& folder, const QStringList& more = {}) const {
        return QStringList{"experiment",
                           path("small.swiftexp"),
                           "--data",
                           path("data.jsonl"),
                           "--model",
                           path("model"),
                           "--backend",
                           "plain",
                           "--raw",
                           "--out",
                           path(folder)} +
               more;
    }

    QString shardPath(const QString& folder, int shard, const QString& suffix) const {
        return path(
            QString("%1/shards/%2.%3").arg(folder).arg(shard, 4, 10, QChar('0')).arg(suffix));
    }

    bool isFinished(const QString& folder, int shard) const {
        return QFile::exists(shardPath(folder, shard, "json"));
    }

    int finishedCount(const QString& folder) const {
        int count = 0;
        for (int shard = 0; shard < kShards; ++shard)
            count += isFinished(folder, shard) ? 1 : 0;
        return count;
    }

    /// A file of a run folder as JSON, without everything that a clock or a place has made.
    QJsonObject measured(const QString& file) const {
        QFile open(path(file));
        if (!open.open(QIODevice::ReadOnly))
            return {};
        return withoutTimes(QJsonDocument::fromJson(open.readAll()).object()).toObject();
    }

    static constexpr int kTasks = 5;
    static constexpr int kShards = 2 * kTasks; ///< those of the first stage come first

private:
    static bool isOfAClock(const QString& name) {
        return name.endsWith("_ms") || name == "seconds" || name == "started_utc" ||
               name == "started_at" || name == "at" || name == "machine" || name == "draft_ratio";
    }

    static QJsonValue withoutTimes(const QJsonValue& value) {
        if (value.isArray()) {
            QJsonArray kept;
            for (const QJsonValue item : value.toArray())
                kept.append(withoutTimes(item));
            return kept;
        }
        if (!value.isObject())
            return value;
        QJsonObject kept;
        const QJsonObject object = value.toObject();
        for (auto member = object.begin(); member != object.end(); ++member)
            if (!isOfAClock(member.key()))
                kept[member.key()] = withoutTimes(member.value());
        return kept;
    }

    QTemporaryDir m_folder;
};

/// The process that has these words, one behind the other, on its command line; none if there is
/// none.
inline std::optional<pid_t> processWith(const QStringList& words) {
    const QByteArray wanted = words.join(QChar(0)).toUtf8() + '\0';
    for (const QString& name : QDir("/proc").entryList(QDir::Dirs)) {
        bool isNumber = false;
        const int process = name.toInt(&isNumber);
        QFile line("/proc/" + name + "/cmdline");
        if (isNumber && line.open(QIODevice::ReadOnly) && line.readAll().contains(wanted))
            return process;
    }
    return std::nullopt;
}

} // namespace test_support
