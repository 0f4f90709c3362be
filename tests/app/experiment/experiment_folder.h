// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/exit_codes.h"
#include "engine/experiments/run/run_folder.h"
#include "tests/support/file_content.h"
#include "tests/support/programs/swift_run.h"

#include <QTemporaryDir>

#include <filesystem>
#include <map>
#include <string>

namespace support {

inline const QString kTinyModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";

inline const QByteArray kTwoTaskPrompts = "{\"prompt\":\"Hello world\",\"task\":\"a\"}\n"
                                          "{\"prompt\":[\"Hi\",\"And you?\"],\"task\":\"b\"}\n"
                                          "{\"prompt\":\"Once upon a time\",\"task\":\"a\"}\n"
                                          "{\"prompt\":\"The end of it\",\"task\":\"b\"}\n";

/// Two tasks, vanilla and two variants, each prompt twice.
inline const QByteArray kSmallRecipe = R"({
  "format": "swift-experiment", "version": 1, "name": "mine", "title": "Mine",
  "summary": "It compares.",
  "stages": [{"name": "run", "variants": [
    {"name": "lookup", "decoder": "lookup"},
    {"name": "swift", "decoder": "swift", "settings": {"r": 0.3}}]}],
  "sizes": {"quick": {"prompts_per_task": 2, "max_tokens": 8}},
  "tables": [{"id": "main", "title": "Main", "rows": "variant", "columns": ["speedup", "equal"]}],
  "verdict": {"kind": "gain", "variant": "swift"}
})";

/// A folder for runs of `swift-run experiment` with the tiny model.
class ExperimentFolder {
public:
    ExperimentFolder() { qputenv("SWIFT_STUDIO_DATA", m_folder.path().toUtf8()); }

    QString write(const QString& name, const QByteArray& bytes) const {
        return writeFile(m_folder.filePath(name), bytes);
    }

    /// Where a run goes.
    QString out(const QString& name = "run") const { return m_folder.filePath(name); }

    engine::RunFolder opened(const QString& name = "run") const {
        auto run = engine::RunFolder::open(out(name).toStdString());
        if (!run)
            qFatal("%s", run.error().message.c_str());
        return std::move(run).value();
    }

    /// A recipe on the four prompts.
    QStringList arguments(const QStringList& more, const QByteArray& recipe = kSmallRecipe) const {
        return QStringList{"experiment",
                           write("mine.swiftexp", recipe),
                           "--data",
                           write("prompts.jsonl", kTwoTaskPrompts),
                           "--model",
                           kTinyModel,
                           "--backend",
                           "plain"} +
               more;
    }

    /// The same with --json.
    ProgramRun run(const QStringList& more, const QByteArray& recipe = kSmallRecipe) const {
        return runProgram(program(), arguments(more, recipe) + QStringList{"--json"});
    }

    static ProgramRun experiment(const QStringList& arguments) {
        return runProgram(program(), QStringList{"experiment"} + arguments);
    }

    static QString program() { return swiftRunPath(); }

private:
    QTemporaryDir m_folder;
};

/// Lines of standard output that tell of an event, and of a phase if one is given.
inline int countOf(const ProgramRun& run, const QString& event, const QString& phase = {}) {
    int count = 0;
    for (const QJsonObject& line : run.jsonLines())
        if (line["event"] == event && (phase.isEmpty() || line["phase"] == phase))
            ++count;
    return count;
}

/// Of a file; none if it cannot be read.
inline QByteArray bytesOf(const std::filesystem::path& path) {
    return fileBytes(QString::fromStdString(path.string()));
}

/// "variant task prompt pass": hash of the tokens.
inline std::map<std::string, std::uint64_t> hashesOf(const engine::RunFolder& run) {
    std::map<std::string, std::uint64_t> hashes;
    for (const auto& shard : run.plan().shards) {
        const auto result = run.result(shard.index);
        for (const auto& answer : result.value().answers)
            hashes[fmt::format(
                "{} {} {} {}", answer.variant, answer.task, answer.prompt, answer.pass)] =
                answer.tokenHash;
    }
    return hashes;
}

} // namespace support
