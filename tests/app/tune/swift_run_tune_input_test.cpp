// SPDX-License-Identifier: Apache-2.0
// What `swift-run tune` refuses, and that it leaves nothing half-made then. No function needs
// LibTorch.
#include "app/exit_codes.h"
#include "tests/app/tune/tiny_tuning.h"
#include "tests/support/models/tiny_adapter.h"
#include "tests/support/programs/program_copy.h"

#include <QTest>

#include <csignal>

using support::ProgramRun;
using test_support::TinyTuning;

namespace {

const QString kOut = "refused.safetensors";

} // namespace

class SwiftRunTuneInputTest : public QObject {
    Q_OBJECT

private slots:
    void badOptionsAreOneSentence_data();
    void badOptionsAreOneSentence();
    void badWorkIsOneSentence_data();
    void badWorkIsOneSentence();
    void modelsThatCannotBeTunedAreOneSentence_data();
    void modelsThatCannotBeTunedAreOneSentence();
    void foldersOfModelsAreReplacedAsOtherOutputsAre();
    void tooFewTokensAreRefusedBeforeAnyWork();
    void moreThanTheDiskHoldsIsRefusedBeforeAnyWork();
    void equalPromptsAreOfOneSplitWhateverTheirIds();
    void theLicenceOfTheDataIsTold();
    void aRunThatWasRefusedIsNotInTheWayOfTheNextOne();
    void anotherFileIsReplacedOnlyWhenToldSo();
    void withoutTheTrainerItIsToldBeforeAnyWork();
    void anEarlierRunIsNotLost();
    void toBeginAnewReplacesNoOtherOutput();
    void theShippedAdapterIsReplacedAsAWholeAndNoOther();
    void aRunWithOtherOptionsIsNotContinued();
    void twoRunsOnOneOutputAreNotLetIn();
    void anAdapterIsDescribedAndComparedWithTheModel();
    void aDamagedAdapterIsNamed_data();
    void aDamagedAdapterIsNamed();

private:
    /// Neither the output nor the folder beside it is there.
    void expectNothingMade() const {
        QVERIFY(!m_tuning.isThere(kOut));
        QVERIFY2(!m_tuning.isThere(kOut + ".work"), qPrintable(m_tuning.workFiles(kOut).join(' ')));
    }

    engine::DraftAdapter adapterFor(const std::string& fingerprint) const {
        auto adapter =
            support::makeAdapter(support::letterConfig(3), support::AdapterKind::Random, 1);
        adapter.fingerprints = {fingerprint};
        return adapter;
    }

    QStringList checking(const QString& name) const {
        return {"tune", "--check", m_tuning.path(name), "--model", m_tuning.path("model")};
    }

    TinyTuning m_tuning;
};

void SwiftRunTuneInputTest::badOptionsAreOneSentence_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("named");
    const int usage = app::kUsage;
    const QStringList model = {"tune", "--model", m_tuning.path("model")};
    QTest::newRow("no data") << model + QStringList{"--out", m_tuning.path(kOut)} << usage
                             << QStringList{"--data"};
    QTest::newRow("no output") << model + QStringList{"--data", m_tuning.path("data.jsonl")}
                               << usage << QStringList{"--out"};
    const auto add =
        [&](const char* name, const QStringList& more, int exitCode, const QStringList& named) {
            QTest::newRow(name) << m_tuning.bare(kOut, more) << exitCode << named;
        };
    add("steps and minutes", {"--steps", "9", "--minutes", "1"}, usage, {"--steps", "--minutes"});
    add("resume and retrain", {"--resume", "--retrain"}, usage, {"--resume", "--retrain"});
    add("steps and epochs", {"--steps", "9", "--epochs", "1"}, usage, {"--steps", "--epochs"});
    add("anew and resume", {"--anew", "--resume"}, usage, {"--anew", "--resume"});
    add("nothing to use", {"--use", "--collect-only"}, usage, {"--use", "--collect-only"});
    add("a rank without LoRA",
        {"--recipe", "layerskip", "--set", "full=on", "--set", "rank=8"},
        usage,
        {"rank", "full=on"});
    QTest::newRow("a licence of no data")
        << model + QStringList{"--out", m_tuning.path(kOut), "--self-prompts", "5"} +
               QStringList{"--licence", "MIT"}
        << usage << QStringList{"--licence", "no --data"};
    add("unknown setting", {"--set", "heads=9"}, usage, {"heads", "head"});
    add("no setting", {"--set", "head"}, usage, {"NAME=VALUE"});
    add("setting below its range", {"--set", "head=2"}, usage, {"head", "16"});
    add("setting above its range", {"--set", "layers=5"}, usage, {"layers", "4"});
    add("no number", {"--set", "rate=fast"}, usage, {"rate"});
    add("unknown choice", {"--set", "start=zero"}, usage, {"start", "last_layer"});
    add("unknown recipe", {"--recipe", "eagle"}, usage, {"eagle"});
    add("setting of another recipe",
        {"--recipe", "layerskip", "--set", "head=64"},
        usage,
        {"recipe layerskip", "head"});
    add("a model is no adapter to use",
        {"--recipe", "space", "--use"},
        usage,
        {"--use", "space", "--model"});
    add("unknown profile", {"--profile", "long"}, usage, {"long"});
    add("no answer tokens", {"--answer-tokens", "0"}, usage, {"--answer-tokens"});
    add("no steps", {"--steps", "0"}, usage, {"--steps"});
    add("licences for other files",
        {"--licence", "MIT", "--licence", "CC0"},
        usage,
        {"2 --licence", "1 --data"});
    add("prompts of its own without a template",
        {"--self-prompts", "5", "--collect-only"},
        app::kUnsupported,
        {"chat template", "--raw"});
    add("fewer prompts than none", {"--self-prompts", "-1"}, usage, {"--self-prompts"});
}

void SwiftRunTuneInputTest::badOptionsAreOneSentence() {
    QFETCH(QStringList, arguments);
    QFETCH(int, exitCode);
    QFETCH(QStringList, named);
    support::expectRefusal(TinyTuning::run(arguments), exitCode, named);
    expectNothingMade();
}

void SwiftRunTuneInputTest::badWorkIsOneSentence_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("named");
    const auto add =
        [](const char* name, const QStringList& more, int exitCode, const QStringList& named) {
            QTest::newRow(name) << more << exitCode << named;
        };
    add("data that is not there", {"--data", "nowhere.jsonl"}, app::kNotFound, {"nowhere.jsonl"});
    add("folder that is not there",
        {"--out", m_tuning.path("nowhere/a.safetensors")},
        app::kNotFound,
        {"nowhere"});
    add("a folder as output", {"--out", m_tuning.path("model")}, app::kUsage, {"is a folder"});
    add("the data as output",
        {"--out", m_tuning.path("data.jsonl"), "--overwrite"},
        app::kUsage,
        {"data.jsonl", "reads"});
    add("resume without a run", {"--resume"}, app::kNotFound, {"no earlier run", kOut});
    add("retrain without a run", {"--retrain"}, app::kNotFound, {"no earlier run", kOut});
    add("context beyond the model", {"--context", "100000"}, app::kUsage, {"100000"});
    add("model that is not there",
        {"--model", m_tuning.path("nowhere")},
        app::kNotFound,
        {"nowhere"});
}

/// With --collect-only, so that nothing asks for LibTorch.
void SwiftRunTuneInputTest::badWorkIsOneSentence() {
    QFETCH(QStringList, more);
    QFETCH(int, exitCode);
    QFETCH(QStringList, named);
    QStringList all = m_tuning.bare(kOut, {"--collect-only", "--answer-tokens", "1500"});
    if (more.front() == "--out" || more.front() == "--model")
        all.remove(all.indexOf(more.front()), 2);
    support::expectRefusal(TinyTuning::run(all + more), exitCode, named);
    expectNothingMade();
}

void SwiftRunTuneInputTest::modelsThatCannotBeTunedAreOneSentence_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("named");
    auto config = support::letterConfig(2);
    m_tuning.addModel("two-layers", config, 1);
    QTest::newRow("two layers have no exit to train")
        << "two-layers" << QStringList{"--recipe", "layerskip"} << int(app::kUsage)
        << QStringList{"2 layers", "need three"};
    QTest::newRow("an exit behind the last layer")
        << "model" << QStringList{"--recipe", "layerskip", "--set", "exit=3"} << int(app::kUsage)
        << QStringList{"1 to 2", "3 layers"};
    config = support::letterConfig(3);
    config.vocabSize = 13; // all of them letters
    m_tuning.addModel("in-use", config, 1);
    m_tuning.write("in-use/tokenizer.json", QByteArray::fromStdString(tiny::json()));
    QTest::newRow("no free id for the mask")
        << "in-use" << QStringList{"--recipe", "space"} << int(app::kUnsupported)
        << QStringList{"no mask token", "mask_token"};
    QTest::newRow("a mask that texts hold")
        << "model" << QStringList{"--recipe", "space", "--set", "mask_token=0"} << int(app::kUsage)
        << QStringList{"token 0", "texts hold it"};
    QTest::newRow("a mask outside of the vocabulary")
        << "model" << QStringList{"--recipe", "space", "--set", "mask_token=16"} << int(app::kUsage)
        << QStringList{"token 16", "vocabulary of 16"};
    m_tuning.addModel("capped", support::letterConfig(3), 1);
    m_tuning.write("capped/config.json",
                   m_tuning.read("capped/config.json")
                       .replace("\"LlamaForCausalLM\"", "\"Olmo2ForCausalLM\"")
                       .replace("\"llama\"", "\"olmo2\""));
    m_tuning.write(
        "capped/model.safetensors", // it has no norm before its sublayers
        m_tuning.read("capped/model.safetensors").replace("input_layernorm", "input_layernorx"));
    QTest::newRow("a family that the trainer does not know")
        << "capped" << QStringList{"--recipe", "layerskip"} << int(app::kUnsupported)
        << QStringList{"olmo2", "cannot be trained", "--recipe draft"};
}

/// Before any work: with --collect-only, so that nothing asks for LibTorch.
void SwiftRunTuneInputTest::modelsThatCannotBeTunedAreOneSentence() {
    QFETCH(const QString, model);
    QFETCH(const QStringList, more);
    QFETCH(const int, exitCode);
    QFETCH(const QStringList, named);
    QStringList all =
        m_tuning.bare(kOut, QStringList{"--collect-only", "--answer-tokens", "1500"} + more);
    all.replace(all.indexOf("--model") + 1, m_tuning.path(model));
    support::expectRefusal(TinyTuning::run(all), exitCode, named);
    expectNothingMade();
}

void SwiftRunTuneInputTest::foldersOfModelsAreReplacedAsOtherOutputsAre() {
    const auto refused =
        [&](const QString& out, const QStringList& named, const QStringList& more) {
            QStringList all = m_tuning.bare(
                out, {"--recipe", "layerskip", "--collect-only", "--answer-tokens", "1500"});
            support::expectRefusal(TinyTuning::run(all + more), app::kUsage, named);
            QVERIFY(!m_tuning.isThere(out + ".work"));
        };
    refused("model", {"model", "reads"}, {"--overwrite"});
    refused("data.jsonl", {"data.jsonl", "is no folder"}, {"--overwrite"});
    QDir().mkpath(m_tuning.path("letters"));
    m_tuning.write("letters/diary.txt", "Dear diary,\n");
    refused("letters", {"something else", "--overwrite"}, {});
    QDir().mkpath(m_tuning.path("later-rejected")); // where a model would go that is not kept
    m_tuning.write("later-rejected/diary.txt", "Dear diary,\n");
    for (const QStringList& more : {QStringList(), QStringList{"--overwrite"}})
        refused("later", {"later-rejected", "something else"}, more);
    QCOMPARE(m_tuning.read("later-rejected/diary.txt"), QByteArray("Dear diary,\n"));
    QDir().mkpath(m_tuning.path("spare-rejected")); // a model that was kept under this name
    m_tuning.write("spare-rejected/tuning.json",
                   R"({"swift_studio_tuning":1,"files":["tuning.json"],"quality":{"kept":true}})");
    refused("spare", {"spare-rejected", "something else"}, {"--overwrite"});
    QDir().mkpath(m_tuning.path("empty"));
    for (const char* out : {"empty/.", "empty/..", "empty/./"})
        refused(out, {"is no name"}, {"--overwrite"});
    QCOMPARE(m_tuning.read("letters/diary.txt"), QByteArray("Dear diary,\n"));
}

void SwiftRunTuneInputTest::tooFewTokensAreRefusedBeforeAnyWork() {
    const QStringList few = m_tuning.bare(kOut, {"--collect-only", "--answer-tokens", "999"});
    support::expectRefusal(
        TinyTuning::run(few), app::kUsage, {"--answer-tokens is 999", "fewer than 1000"});
    expectNothingMade();
}

/// Answers of 33 TB.
void SwiftRunTuneInputTest::moreThanTheDiskHoldsIsRefusedBeforeAnyWork() {
    auto config = support::letterConfig(3);
    config.hiddenSize = 16'384;
    config.mlpSize = 8;
    config.headCount = config.kvHeadCount = 1;
    m_tuning.addModel("wide", config, 1);
    QStringList all = m_tuning.bare(
        kOut, {"--recipe", "layerskip", "--collect-only", "--answer-tokens", "1000000000"});
    all.replace(all.indexOf("--model") + 1, m_tuning.path("wide"));
    support::expectRefusal(TinyTuning::run(all), app::kIo, {"32852.0 GB", "--answer-tokens"});
    expectNothingMade();
}

/// A log of one question: nothing of what is trained on may judge the result.
void SwiftRunTuneInputTest::equalPromptsAreOfOneSplitWhateverTheirIds() {
    QByteArray lines;
    for (int i = 0; i < 12; ++i)
        lines += "{\"id\":\"prompt-" + QByteArray::number(i) + "\",\"prompt\":\"abc ab\"}\n";
    m_tuning.write("repeated.jsonl", lines);
    QStringList all = m_tuning.bare(
        "repeated", {"--collect-only", "--answer-tokens", "1500", "--set", "longest_answer=24"});
    all.replace(all.indexOf("--data") + 1, m_tuning.path("repeated.jsonl"));
    const ProgramRun result = TinyTuning::run(all);
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QByteArray rows = m_tuning.read("repeated.work/rows-00000.bin");
    QVERIFY(rows.contains("\"split\":0"));
    QVERIFY(!rows.contains("\"split\":1"));
}

void SwiftRunTuneInputTest::theLicenceOfTheDataIsTold() {
    const auto adapter = adapterFor(m_tuning.fingerprint());
    m_tuning.write("unnamed", QByteArray::fromStdString(support::adapterFile(adapter)));
    QVERIFY(!TinyTuning::run(checking("unnamed")).output.contains("data:"));
    std::string description = support::adapterDescription(adapter);
    description.insert(1,
                       R"("data":{"sources":[{"file":"a.jsonl","licence":"MIT"},)"
                       R"({"file":"b.jsonl"}]},)");
    m_tuning.write("licensed",
                   QByteArray::fromStdString(support::adapterFile(adapter, description)));
    const ProgramRun told = TinyTuning::run(checking("licensed"));
    QVERIFY2(told.output.contains("  data: a.jsonl (MIT), b.jsonl (unknown)\n"),
             told.output.constData());
}

void SwiftRunTuneInputTest::aRunThatWasRefusedIsNotInTheWayOfTheNextOne() {
    const QStringList good = {"--collect-only", "--answer-tokens", "1500"};
    const ProgramRun refused =
        TinyTuning::run(m_tuning.bare("next", good + QStringList{"--precision", "int3"}));
    QVERIFY2(refused.exitCode == app::kUsage, refused.errors.constData());
    QVERIFY(!m_tuning.isThere("next.work"));
    const ProgramRun result = TinyTuning::run(m_tuning.bare("next", good));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY(m_tuning.workFiles("next").contains("rows-00000.bin"));
}

void SwiftRunTuneInputTest::anotherFileIsReplacedOnlyWhenToldSo() {
    m_tuning.write("diary.txt", "Dear diary,\n");
    const QStringList all =
        m_tuning.bare("diary.txt", {"--collect-only", "--answer-tokens", "1500"});
    support::expectRefusal(
        TinyTuning::run(all), app::kUsage, {"diary.txt", "something else", "--overwrite"});
    QVERIFY(!m_tuning.isThere("diary.txt.work"));
    const ProgramRun told = TinyTuning::run(all + QStringList{"--overwrite"});
    QVERIFY2(told.exitCode == 0, told.errors.constData());
    QCOMPARE(m_tuning.read("diary.txt"), QByteArray("Dear diary,\n")); // nothing was written yet
}

void SwiftRunTuneInputTest::withoutTheTrainerItIsToldBeforeAnyWork() {
    const QString program = support::copyProgram("", {}, m_tuning.path("program"));
    support::expectRefusal(support::runProgram(program, m_tuning.command(kOut)),
                           app::kUnsupported,
                           {"without LibTorch", "SWIFT_STUDIO_TORCH"});
    expectNothingMade();
}

void SwiftRunTuneInputTest::anEarlierRunIsNotLost() {
    const QStringList all = m_tuning.bare("kept", {"--collect-only", "--answer-tokens", "1500"});
    QCOMPARE(TinyTuning::run(all).exitCode, 0);
    const QByteArray rows = m_tuning.read("kept.work/rows-00000.bin");
    QVERIFY(!rows.isEmpty());
    support::expectRefusal(
        TinyTuning::run(all), app::kUsage, {"earlier run", "--resume", "--anew"});
    QCOMPARE(m_tuning.read("kept.work/rows-00000.bin"), rows);
    for (const char* option : {"--anew", "--overwrite"}) {
        const ProgramRun again = TinyTuning::run(all + QStringList{option});
        QVERIFY2(again.exitCode == 0, again.errors.constData());
        QCOMPARE(m_tuning.read("kept.work/rows-00000.bin"), rows); // the same seed
    }
}

/// Work may be deleted, and what has come to the output's place stays.
void SwiftRunTuneInputTest::toBeginAnewReplacesNoOtherOutput() {
    const QStringList all = m_tuning.bare(
        "spoken", {"--recipe", "layerskip", "--collect-only", "--answer-tokens", "1500"});
    QCOMPARE(TinyTuning::run(all).exitCode, 0);
    QDir().mkpath(m_tuning.path("spoken"));
    m_tuning.write("spoken/diary.txt", "Dear diary,\n");
    support::expectRefusal(TinyTuning::run(all + QStringList{"--anew"}),
                           app::kUsage,
                           {"spoken", "something else", "--overwrite"});
    QVERIFY(m_tuning.workFiles("spoken").contains("rows-00000.bin"));
    QCOMPARE(m_tuning.read("spoken/diary.txt"), QByteArray("Dear diary,\n"));
}

/// The script that made the adapter which comes with the program, with a program that only writes.
void SwiftRunTuneInputTest::theShippedAdapterIsReplacedAsAWholeAndNoOther() {
    const QString folder = "tree/resources/draft-adapters/";
    for (const char* made : {"resources/draft-adapters", "build/release/bin", "prompts"})
        QDir().mkpath(m_tuning.path("tree/") + made);
    const QString script = m_tuning.path(folder + "make.sh");
    QVERIFY(QFile::copy(
        QStringLiteral(SWIFT_STUDIO_TEST_DATA_DIR "/../../resources/draft-adapters/make.sh"),
        script));
    for (const char* task :
         {"summarization", "math_reasoning", "instruction_following", "multi_turn_chat", "code"})
        m_tuning.write(QString("tree/prompts/%1.jsonl").arg(task), "{\"id\": \"HumanEval/1\"}\n");
    const auto make = [&](const QByteArray& writing) {
        const QString program = "tree/build/release/bin/swift-run";
        m_tuning.write(program,
                       "#!/bin/sh\n"
                       "[ \"$2\" = --check ] && echo '{\"fingerprints\": [\"aa\"]}' && exit\n"
                       "while [ \"$1\" != --out ]; do shift; done\n"
                       "rm -rf \"$2\"\n" +
                           writing + " \"$2\"\n");
        QFile::setPermissions(m_tuning.path(program),
                              QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return support::runProgram("/bin/bash", {script, m_tuning.path("tree/prompts")});
    };
    m_tuning.write(folder + "aa.safetensors", "an earlier one");
    m_tuning.write(folder + "bb.safetensors", "another model's");
    const ProgramRun made = make("printf new >");
    QVERIFY2(made.exitCode == 0, made.errors.constData());
    QCOMPARE(m_tuning.read(folder + "aa.safetensors"), QByteArray("new"));
    QVERIFY(make("mkdir").exitCode != 0); // it cannot be copied
    QCOMPARE(m_tuning.read(folder + "aa.safetensors"), QByteArray("new"));
    QCOMPARE(m_tuning.read(folder + "bb.safetensors"), QByteArray("another model's"));
    QCOMPARE(QDir(m_tuning.path(folder)).entryList(QDir::Files).size(), qsizetype{3});
}

void SwiftRunTuneInputTest::aRunWithOtherOptionsIsNotContinued() {
    const QStringList collect = {"--collect-only", "--answer-tokens", "1500"};
    QCOMPARE(TinyTuning::run(m_tuning.bare("first", collect)).exitCode, 0);
    const auto goOn = [&](const QStringList& more) {
        return TinyTuning::run(m_tuning.bare("first", collect + more));
    };
    support::expectRefusal(
        goOn({"--resume", "--seed", "2"}), app::kUsage, {"seed is 2, but was 1"});
    support::expectRefusal(
        goOn({"--resume", "--set", "rate=0.01"}), app::kUsage, {"rate is 0.01", "--retrain"});
    support::expectRefusal(goOn({"--retrain", "--set", "longest_answer=9"}),
                           app::kUsage,
                           {"longest_answer is 9, but was 192"});
    const ProgramRun retrained = goOn({"--retrain", "--set", "rate=0.01"});
    QVERIFY2(retrained.exitCode == 0, retrained.errors.constData());
}

/// The first one is stopped while it has the folder, so it cannot end meanwhile.
void SwiftRunTuneInputTest::twoRunsOnOneOutputAreNotLetIn() {
    const QStringList all =
        m_tuning.bare("shared", {"--collect-only", "--answer-tokens", "1000000", "--json"});
    QProcess first;
    first.start(TinyTuning::program(), all);
    QCOMPARE(test_support::waitForEvent(first, "start")["event"].toString(), QString("start"));
    ::kill(static_cast<pid_t>(first.processId()), SIGSTOP);
    for (const char* option : {"--resume", "--anew", "--retrain"}) {
        QStringList other = all;
        other.last() = option; // in place of --json
        support::expectRefusal(TinyTuning::run(other), app::kUsage, {"Another run works on"});
    }
    ::kill(static_cast<pid_t>(first.processId()), SIGCONT);
    first.kill();
    first.waitForFinished(-1);
    QVERIFY(m_tuning.workFiles("shared").contains("plan.json"));
}

void SwiftRunTuneInputTest::anAdapterIsDescribedAndComparedWithTheModel() {
    m_tuning.write(
        "fits",
        QByteArray::fromStdString(support::adapterFile(adapterFor(m_tuning.fingerprint()))));
    const ProgramRun fits = TinyTuning::run(checking("fits"));
    QVERIFY2(fits.exitCode == 0, fits.errors.constData());
    for (const char* part : {"made by a test", "1 layer of 48 numbers", "window 6", "fits model"})
        QVERIFY2(fits.output.contains(part), fits.output.constData());
    QStringList asJson = checking("fits") + QStringList{"--json"};
    const QJsonObject line = TinyTuning::run(asJson).jsonLines().constLast();
    QCOMPARE(line["event"].toString(), QString("adapter"));
    QCOMPARE(line["fits"].toBool(), true);
    QCOMPARE(line["model"].toString(), QString("model"));
    QCOMPARE(line["holds"]["sizes"]["window"].toInt(), 6);
    QVERIFY(line["trained_weights"].toInt() > 0 && line["head_tokens"].toInt() > 0);

    asJson.replaceInStrings(m_tuning.path("model"), m_tuning.path("other"));
    const ProgramRun other = TinyTuning::run(asJson);
    QVERIFY2(other.exitCode == app::kUsage, other.errors.constData());
    QCOMPARE(other.jsonLines().constFirst()["fits"].toBool(true), false);
    QCOMPARE(other.jsonLines().constLast()["event"].toString(), QString("error"));
    const QString sentence = other.jsonLines().constLast()["message"].toString();
    QVERIFY2(sentence.contains("was trained for the model"), qPrintable(sentence));
    QVERIFY2(sentence.contains(QString::fromStdString(m_tuning.fingerprint())),
             qPrintable(sentence));
}

void SwiftRunTuneInputTest::aDamagedAdapterIsNamed_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("exitCode");
    const auto adapter = adapterFor(m_tuning.fingerprint());
    const auto whole = QByteArray::fromStdString(support::adapterFile(adapter));
    QTest::newRow("cut in its tensors") << whole.chopped(1000) << int(app::kCorruptFile);
    QTest::newRow("cut in its header") << whole.first(100) << int(app::kCorruptFile);
    QTest::newRow("text") << QByteArray("Dear diary,\n") << int(app::kCorruptFile);
    QTest::newRow("empty") << QByteArray() << int(app::kCorruptFile);
    QByteArray later = whole;
    later.replace(R"(\"version\":1)", R"(\"version\":2)");
    QTest::newRow("later version") << later << int(app::kUnsupported);
}

void SwiftRunTuneInputTest::aDamagedAdapterIsNamed() {
    QFETCH(QByteArray, bytes);
    QFETCH(int, exitCode);
    m_tuning.write("damaged", bytes);
    support::expectRefusal(TinyTuning::run(checking("damaged")), exitCode, {"damaged"});
    support::expectRefusal(TinyTuning::run(checking("nowhere")), app::kNotFound, {"nowhere"});
    support::expectRefusal(TinyTuning::run(checking("nowhere") + QStringList{"--use"}),
                           app::kUsage,
                           {"--check only looks at a file"});
}

QTEST_GUILESS_MAIN(SwiftRunTuneInputTest)
#include "swift_run_tune_input_test.moc"
