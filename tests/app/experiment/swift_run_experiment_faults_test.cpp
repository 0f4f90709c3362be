// SPDX-License-Identifier: Apache-2.0
// swift-run experiment: a damaged part, a prompt that is too long, a full disk; what an audit draws
// and names.
#include "engine/loading/model_files.h"
#include "engine/session/loading/draft_adapter_choice.h"
#include "tests/app/experiment/experiment_folder.h"
#include "tests/support/models/tiny_adapter.h"
#include "tests/support/models/tiny_folder_model.h"

#include <QTest>

using engine::RunFolder;
using engine::ShardPhase;
using namespace support;

namespace {

/// Drafts decide what is drawn, and no time decides about them.
const QByteArray kAudit = R"({
  "format": "swift-experiment", "version": 1, "name": "audit", "title": "Audit",
  "summary": "It draws.",
  "stages": [{"name": "run", "twice": false, "sampling": {"temperature": 0.8}, "variants": [
    {"name": "early", "decoder": "layerskip",
     "settings": {"verification": "rejection", "exit_layer": 1}},
    {"name": "idle", "decoder": "tuned"}]}],
  "sizes": {"quick": {"prompts_per_task": 1, "max_tokens": 8, "draws": 3, "draw_tokens": 4}},
  "tables": [{"id": "drawn", "title": "Drawn", "rows": "variant", "columns": ["draws", "draw_p"]}],
  "verdict": {"kind": "equal", "measure": "equal"}
})";

/// "variant prompt": the tokens of each draw.
std::map<std::string, std::vector<std::vector<int>>> drawsOf(const RunFolder& run) {
    std::map<std::string, std::vector<std::vector<int>>> draws;
    for (const auto& shard : run.plan().shards) {
        const auto result = run.result(shard.index);
        for (const auto& draw : result.value().draws)
            draws[fmt::format("{} {}", draw.variant, draw.prompt)].push_back(draw.tokens);
    }
    return draws;
}

} // namespace

class SwiftRunExperimentFaultsTest : public QObject {
    Q_OBJECT

private slots:

    void init() { m_folder = std::make_unique<ExperimentFolder>(); }

    void aDamagedShardIsNamedAndRunAgain();
    void aPromptThatDoesNotFitIsNamedAndLeftOut();
    void aPartWhoseOnlyDrafterCannotRunEndsWithItsSentence();
    void drawsAreTheSameAgainAndAnIdleDecoderIsNamed();
    void aDraftAdapterThatIsAnotherIsNotMixedIn();
    void aFullDiskLosesNothingThatIsFinished();
    void aDiskThatIsFullWhileTheReportIsWrittenLosesNeitherPartsNorTheOldReport();

private:
    std::unique_ptr<ExperimentFolder> m_folder;
};

void SwiftRunExperimentFaultsTest::aDamagedShardIsNamedAndRunAgain() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    const RunFolder folder = m_folder->opened();
    const auto before = hashesOf(folder);
    std::filesystem::resize_file(folder.shardFile(1), 100);
    const ProgramRun again =
        ExperimentFolder::experiment({"--resume", "--out", m_folder->out(), "--json"});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
    QVERIFY2(again.errors.contains("0001.json"), again.errors.constData());
    QCOMPARE(countOf(again, "shard", "finished"), 1);
    QCOMPARE(hashesOf(folder), before);
}

void SwiftRunExperimentFaultsTest::aPromptThatDoesNotFitIsNamedAndLeftOut() {
    const QString prompts =
        m_folder->write("long.jsonl",
                        "{\"prompt\":\"" + QByteArray(4000, 'x') +
                            "\",\"task\":\"a\",\"id\":\"longest\"}\n" + kTwoTaskPrompts);
    const ProgramRun run =
        ExperimentFolder::experiment({m_folder->write("mine.swiftexp", kSmallRecipe),
                                      "--data",
                                      prompts,
                                      "--model",
                                      kTinyModel,
                                      "--backend",
                                      "plain",
                                      "--context",
                                      "64",
                                      "--out",
                                      m_folder->out()});
    QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    QVERIFY2(run.errors.contains("Prompt longest (a) was left out"), run.errors.constData());
    QCOMPARE(m_folder->opened().result(0).value().leftOut.size(), std::size_t{1});
    QCOMPARE(m_folder->opened().result(0).value().answers.size(), std::size_t{6});
}

/// Its skip set has a layer that the model has not.
void SwiftRunExperimentFaultsTest::aPartWhoseOnlyDrafterCannotRunEndsWithItsSentence() {
    const QByteArray wrong =
        R"({"name": "wrong", "decoder": "self_sd",
            "settings": {"start": "manual", "skip_set": "{\"attention\":[99],\"mlp\":[]}"}})";
    QByteArray recipe = kSmallRecipe;
    recipe.replace(R"({"name": "lookup", "decoder": "lookup"})", wrong);
    const ProgramRun mixed = m_folder->run({"--out", m_folder->out("mixed")}, recipe);
    QVERIFY2(mixed.exitCode == app::kSuccess, mixed.errors.constData());
    QVERIFY2(mixed.errors.contains("wrong is dropped and the others go on"),
             mixed.errors.constData());
    recipe.replace(R"({"name": "swift", "decoder": "swift", "settings": {"r": 0.3}}])", "]");
    recipe.replace(",\n    ]", "]");
    recipe.replace("\"kind\": \"gain\", \"variant\": \"swift\"",
                   "\"kind\": \"gain\", \"variant\": \"wrong\"");
    const ProgramRun run = m_folder->run({"--out", m_folder->out()}, recipe);
    QVERIFY(run.exitCode != app::kSuccess);
    QVERIFY2(run.errors.contains("Part 1 could not be finished"), run.errors.constData());
    QVERIFY(!m_folder->opened().result(0));
    QCOMPARE(countOf(run, "shard", "failed"), 2); // one for each task
    QCOMPARE(countOf(run, "done"), 1);
    for (const QJsonObject& line : run.jsonLines())
        if (line["event"] == "done")
            QCOMPARE(line["failed"].toInt(), 2);
    const auto failed = m_folder->opened().state(0);
    QCOMPARE(failed.phase, ShardPhase::Failed);
    QVERIFY2(run.errors.contains(failed.problem.c_str()), failed.problem.c_str());
}

/// The model has no draft adapter.
void SwiftRunExperimentFaultsTest::drawsAreTheSameAgainAndAnIdleDecoderIsNamed() {
    for (const char* name : {"first", "again"}) {
        const ProgramRun run = m_folder->run({"--out", m_folder->out(name)}, kAudit);
        QVERIFY2(run.exitCode == app::kSuccess, run.errors.constData());
    }
    const RunFolder folder = m_folder->opened("first");
    const auto draws = drawsOf(folder);
    QCOMPARE(draws.size(), std::size_t{3 * 2}); // with vanilla, and a prompt of each task
    for (const auto& [place, tokens] : draws) {
        QVERIFY2(tokens.size() == 3, place.c_str());
        for (const std::vector<int>& one : tokens)
            QVERIFY2(one.size() <= 4, place.c_str());
    }
    QCOMPARE(drawsOf(m_folder->opened("again")), draws);
    const std::string sentence = "No draft adapter belongs to this model";
    for (const auto& shard : folder.plan().shards) {
        const auto result = folder.result(shard.index);
        const auto idle = result.value().failures.find("idle");
        QVERIFY(idle != result.value().failures.end());
        QVERIFY2(idle->second.starts_with(sentence), idle->second.c_str());
    }
    const QByteArray report = bytesOf(folder.path() / "report" / "report.md");
    for (const char* words : {"Idle was dropped: No draft adapter belongs",
                              "Never drafted, and so not audited: Idle",
                              "| Variant | Draws | p |"})
        QVERIFY2(report.contains(words), words);
}

/// It was trained between the two calls.
void SwiftRunExperimentFaultsTest::aDraftAdapterThatIsAnotherIsNotMixedIn() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    const RunFolder folder = m_folder->opened();
    const engine::RunModel& model = folder.plan().models.front();
    QCOMPARE(model.adapter, std::string());
    QVERIFY(std::filesystem::path(model.path).is_absolute());
    std::filesystem::remove(folder.shardFile(1));
    const auto files = engine::ModelFiles::open(kTinyModel.toStdString());
    auto adapter = makeAdapter(files.value().config().value(), AdapterKind::Random, 1);
    adapter.fingerprints = {model.identity};
    const std::filesystem::path kept = engine::usersDraftAdapter(model.identity);
    std::filesystem::create_directories(kept.parent_path());
    writeText(kept, adapterFile(adapter));
    const QStringList resume = {"--resume", "--out", m_folder->out()};
    // One that came later has no part in the run.
    QCOMPARE(ExperimentFolder::experiment(resume).exitCode, int{app::kSuccess});

    QByteArray recipe = kSmallRecipe;
    recipe.replace(R"("decoder": "lookup")", R"("decoder": "tuned")");
    QCOMPARE(m_folder->run({"--out", m_folder->out(), "--overwrite"}, recipe).exitCode,
             int{app::kSuccess});
    QVERIFY(!m_folder->opened().plan().models.front().adapter.empty());
    std::filesystem::remove(folder.shardFile(1));
    auto other = makeAdapter(files.value().config().value(), AdapterKind::Random, 2);
    other.fingerprints = adapter.fingerprints;
    writeText(kept, adapterFile(other));
    const ProgramRun again = ExperimentFolder::experiment(resume);
    QCOMPARE(again.exitCode, int{app::kUsage});
    QVERIFY2(again.errors.contains("The draft adapter of the model tiny.gguf is not the one"),
             again.errors.constData());
    QVERIFY(!std::filesystem::exists(folder.shardFile(1)));
    writeText(kept, adapterFile(adapter));
    QCOMPARE(ExperimentFolder::experiment(resume).exitCode, int{app::kSuccess});
    std::filesystem::remove(kept);
}

void SwiftRunExperimentFaultsTest::aFullDiskLosesNothingThatIsFinished() {
    // The second shard's records do not fit into the largest file that is allowed.
    const QString command = QStringLiteral("trap '' XFSZ; ulimit -f 12; exec \"$0\" \"$@\"");
    const QStringList more = {"--out", m_folder->out(), "--prompts", "2"};
    QByteArray recipe = kSmallRecipe;
    recipe.replace("\"verdict\"", "\"keep_rounds\": true, \"verdict\"");
    const ProgramRun full =
        support::runProgram("bash",
                            QStringList{"-c", command, ExperimentFolder::program()} +
                                m_folder->arguments(more, recipe));
    QVERIFY2(full.exitCode == app::kIo, full.errors.constData());
    QVERIFY2(full.errors.contains("cannot be written"), full.errors.constData());
    const ProgramRun again =
        ExperimentFolder::experiment({"--resume", "--out", m_folder->out(), "--json"});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
    for (const auto& state : m_folder->opened().states())
        QCOMPARE(state.phase, ShardPhase::Finished);
}

void SwiftRunExperimentFaultsTest::
    aDiskThatIsFullWhileTheReportIsWrittenLosesNeitherPartsNorTheOldReport() {
    QCOMPARE(m_folder->run({"--out", m_folder->out()}).exitCode, int{app::kSuccess});
    const RunFolder folder = m_folder->opened();
    const QString page = m_folder->out() + "/report/report.html";
    const QByteArray report = bytesOf(page.toStdString());
    const QByteArray part = bytesOf(folder.shardFile(1));
    // The page does not fit into the largest file that is allowed; what it is made of does.
    const QString command = QStringLiteral("trap '' XFSZ; ulimit -f %1; exec \"$0\" \"$@\"")
                                .arg(report.size() / 1024 - 1);
    QVERIFY(report.size() > bytesOf((m_folder->out() + "/result.json").toStdString()).size());
    const QStringList merge = {"experiment", "--merge", "--out", m_folder->out()};
    const ProgramRun full = support::runProgram(
        "bash", QStringList{"-c", command, ExperimentFolder::program()} + merge);
    QVERIFY2(full.exitCode == app::kIo, full.errors.constData());
    QCOMPARE(full.errors.count('\n'), 2); // a sentence, and what to do
    QVERIFY2(full.errors.contains("report.html"), full.errors.constData());
    QCOMPARE(bytesOf(page.toStdString()), report);
    QCOMPARE(bytesOf(folder.shardFile(1)), part);
    for (const auto& state : folder.states())
        QCOMPARE(state.phase, ShardPhase::Finished);
    QCOMPARE(ExperimentFolder::experiment({"--merge", "--out", m_folder->out()}).exitCode,
             int{app::kSuccess});
    QCOMPARE(bytesOf(page.toStdString()), report);
}

QTEST_GUILESS_MAIN(SwiftRunExperimentFaultsTest)
#include "swift_run_experiment_faults_test.moc"
