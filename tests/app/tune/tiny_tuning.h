// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"
#include "engine/model/model_fingerprint.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/swift_run.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <string>

/// What the tests of `swift-run tune` share: tiny models, prompts, and runs of seconds.
namespace test_support {

/// A temporary folder with a model, another one of the same sizes, and eight prompts. Seven of
/// them are trained on, and prompt-1 is held out, as their texts say.
class TinyTuning {
public:
    TinyTuning() {
        qputenv("SWIFT_STUDIO_DATA", path("memory").toUtf8());
        writeModel("model", 3);
        writeModel("other", 4);
        std::string lines;
        int number = 0;
        for (const char* prompt :
             {"abc ab", "bee de", "cab dab", "ee ab", "bad cab", "dead bee", "a bad bee", "abc de"})
            lines +=
                fmt::format("{{\"id\":\"prompt-{}\",\"task\":\"letters\",\"prompt\":\"{}\"}}\n",
                            number++,
                            prompt);
        write("data.jsonl", QByteArray::fromStdString(lines));
    }

    /// Its template puts "ab" before a message and "d" behind it, which the model soon writes.
    void giveChatTemplate() const {
        write("model/tokenizer_config.json",
              R"({"chat_template":"{% for m in messages %}ab{{ m['content'] }}d{% endfor %}"})");
    }

    QString path(const QString& name) const { return m_folder.filePath(name); }

    void write(const QString& name, const QByteArray& bytes) const {
        support::writeText(path(name).toStdString(), bytes.toStdString());
    }

    /// `tune` on these prompts, without anything that says how much.
    QStringList bare(const QString& out, const QStringList& more = {}) const {
        return QStringList{"tune",
                           "--data",
                           path("data.jsonl"),
                           "--out",
                           path(out),
                           "--model",
                           path("model"),
                           "--backend",
                           "plain",
                           "--raw"} +
               more;
    }

    /// The same for a run of `steps` steps on 1,500 answer tokens: answers are so short that all
    /// prompts are asked.
    QStringList command(const QString& out, const QStringList& more = {}, int steps = 60) const {
        return bare(out,
                    QStringList{"--answer-tokens",
                                "1500",
                                "--steps",
                                QString::number(steps),
                                "--set",
                                "head=16",
                                "--set",
                                "longest_answer=48",
                                "--set",
                                "window=16",
                                "--set",
                                "step_rows=256",
                                "--set",
                                "validation_steps=20"} +
                        more);
    }

    /// A recipe that changes the model, on 6,000 answer tokens.
    QStringList modelCommand(const QString& recipe,
                             const QString& out,
                             const QStringList& more = {},
                             int steps = 60) const {
        return bare(
            out,
            QStringList{"--recipe",
                        recipe,
                        "--answer-tokens",
                        "6000",
                        "--steps",
                        QString::number(steps),
                        "--set",
                        "longest_answer=48",
                        "--set",
                        "step_rows=256",
                        "--set",
                        "rate=0.001",
                        "--set",
                        "averaging=0.9",
                        "--set",
                        "validation_steps=40"} +
                (recipe == "space" ? QStringList{"--set", "places=4"} : QStringList()) +
                (more.contains("full=on") ? QStringList() : QStringList{"--set", "rank=8"}) + more);
    }

    /// Writes another model of the letters' kind.
    void addModel(const QString& name, const engine::ModelConfig& config, unsigned seed) const {
        auto weights = support::randomWeights(config, seed);
        support::writeFolderModel(path(name).toStdString(), config, weights);
    }

    static QString program() { return support::swiftRunPath(); }

    static support::ProgramRun run(const QStringList& arguments) {
        return support::runProgram(program(), arguments);
    }

    /// The bytes of an adapter file without the date in it; empty if there is no date.
    QByteArray withoutDate(const QString& name) const {
        const QByteArray key = R"(\"date\":\")"; // a text within a text
        QByteArray bytes = read(name);
        const qsizetype begin = bytes.indexOf(key);
        return begin < 0 ? QByteArray() : bytes.remove(begin, bytes.indexOf('}', begin) - begin);
    }

    QByteArray read(const QString& name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    /// What lies in the folder of a run, sorted by name; empty if there is no such folder.
    QStringList workFiles(const QString& out) const {
        return QDir(path(out + ".work")).entryList(QDir::Files | QDir::Hidden, QDir::Name);
    }

    bool isThere(const QString& name) const { return QFileInfo::exists(path(name)); }

    /// Fails by exception.
    std::string fingerprint() const {
        const auto files = engine::ModelFiles::open(path("model").toStdString());
        const auto weights = files.value().weights();
        return engine::modelFingerprint(files.value().config().value(), *weights.value()).value();
    }

private:
    void writeModel(const QString& name, unsigned seed) const {
        addModel(name, support::letterConfig(3), seed);
    }

    QTemporaryDir m_folder;
};

/// Waits for a line of --json with this event of which `isMeant` is true. Null once the program has
/// ended without it.
template <typename Predicate>
QJsonObject waitForEvent(QProcess& process, const QString& event, Predicate isMeant) {
    while (true) {
        const bool goesOn = process.canReadLine() || process.waitForReadyRead(-1);
        while (process.canReadLine()) {
            const QJsonObject line = QJsonDocument::fromJson(process.readLine()).object();
            if (line["event"] == event && isMeant(line))
                return line;
        }
        if (!goesOn)
            return {};
    }
}

inline QJsonObject waitForEvent(QProcess& process, const QString& event) {
    return waitForEvent(process, event, [](const QJsonObject&) { return true; });
}

} // namespace test_support
