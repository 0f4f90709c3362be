// SPDX-License-Identifier: Apache-2.0
// swift-run tune --self-prompts: prompts that the model writes itself. No function needs LibTorch.
#include "app/exit_codes.h"
#include "tests/app/tune/tiny_tuning.h"

#include <QSet>
#include <QTest>

#include <algorithm>

using support::ProgramRun;
using test_support::TinyTuning;
using test_support::waitForEvent;

namespace {

constexpr int kPrompts = 40;

} // namespace

class SwiftRunSelfPromptsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void theModelWritesAsManyAsAreAskedFor();
    void theSameSeedWritesTheSamePrompts();
    void aRunThatWasCutWritesTheSamePrompts_data();
    void aRunThatWasCutWritesTheSamePrompts();
    void aRunThatFailedLaterKeepsThem();
    void theyAreTrainedOnBesideTheData();
    void recipesThatChangeTheModelTakeThemToo_data();
    void recipesThatChangeTheModelTakeThemToo();
    void noPromptHasTheMask();
    void aMaskOfUsualTextsIsRefusedWithoutAnyData();

private:
    /// Only its own prompts are answered.
    QStringList own(const QString& out, const QStringList& more = {}, int count = kPrompts) const {
        const QStringList all{"tune",
                              "--out",
                              m_tuning.path(out),
                              "--model",
                              m_tuning.path("model"),
                              "--backend",
                              "plain",
                              "--self-prompts",
                              QString::number(count),
                              "--answer-tokens",
                              "1500",
                              "--set",
                              "longest_answer=48"};
        return all + more;
    }

    QByteArray written(const QString& out) const {
        return m_tuning.read(out + ".work/self-prompts.jsonl");
    }

    /// Those that are used: a batch may have given some more.
    QList<QByteArray> used(const QString& out) const {
        return written(out).trimmed().split('\n').first(kPrompts);
    }

    TinyTuning m_tuning;
};

void SwiftRunSelfPromptsTest::initTestCase() {
    m_tuning.giveChatTemplate();
    const ProgramRun result = TinyTuning::run(own("first", {"--collect-only", "--json"}));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    int told = 0;
    for (const QJsonObject& line : result.jsonLines())
        if (line["event"] == "self_prompts") {
            QVERIFY(line["written"].toInt() >= told);
            QCOMPARE(line["planned"].toInt(), kPrompts);
            told = line["written"].toInt();
        }
    QCOMPARE(told, kPrompts);
}

void SwiftRunSelfPromptsTest::theModelWritesAsManyAsAreAskedFor() {
    const QList<QByteArray> lines = written("first").trimmed().split('\n');
    QVERIFY(lines.size() >= kPrompts);
    QSet<QString> prompts;
    for (const QByteArray& line : lines) {
        const QString prompt = QJsonDocument::fromJson(line)["prompt"].toString();
        QVERIFY2(prompt.toUtf8().size() >= 8 && prompt == prompt.trimmed(), line.constData());
        QVERIFY2(!prompt.contains('d'), line.constData()); // which ends a message
        prompts.insert(prompt);
    }
    QCOMPARE(prompts.size(), lines.size());
}

void SwiftRunSelfPromptsTest::theSameSeedWritesTheSamePrompts() {
    QCOMPARE(TinyTuning::run(own("same", {"--collect-only"})).exitCode, 0);
    QCOMPARE(written("same"), written("first"));
    QCOMPARE(m_tuning.read("same.work/rows-00000.bin"), m_tuning.read("first.work/rows-00000.bin"));
    QCOMPARE(TinyTuning::run(own("seed", {"--collect-only", "--seed", "2"})).exitCode, 0);
    QVERIFY(written("seed") != written("first"));
}

void SwiftRunSelfPromptsTest::aRunThatWasCutWritesTheSamePrompts_data() {
    QTest::addColumn<int>("kept"); // bytes
    const auto all = static_cast<int>(written("first").size());
    QTest::newRow("nothing") << 0;
    QTest::newRow("half a line") << 20;
    QTest::newRow("a third") << all / 3;
    QTest::newRow("all but the end of the last line") << all - 1;
}

/// A run that was killed behind so many bytes.
void SwiftRunSelfPromptsTest::aRunThatWasCutWritesTheSamePrompts() {
    QFETCH(const int, kept);
    QProcess process;
    process.start(TinyTuning::program(), own("cut", {"--collect-only", "--overwrite", "--json"}));
    QVERIFY(!waitForEvent(process, "start").isEmpty());
    process.kill();
    process.waitForFinished(-1);
    m_tuning.write("cut.work/self-prompts.jsonl", written("first").first(kept));
    const ProgramRun rest = TinyTuning::run(own("cut", {"--collect-only", "--resume"}));
    QVERIFY2(rest.exitCode == 0, rest.errors.constData());
    QCOMPARE(used("cut"), used("first"));
    QCOMPARE(m_tuning.read("cut.work/rows-00000.bin"), m_tuning.read("first.work/rows-00000.bin"));
}

/// The disk has room for them, but not for answers.
void SwiftRunSelfPromptsTest::aRunThatFailedLaterKeepsThem() {
    const QString limited = QStringLiteral("trap '' XFSZ; ulimit -f 12; exec \"$0\" \"$@\"");
    const ProgramRun failed = support::runProgram(
        "/bin/bash",
        QStringList{"-c", limited, TinyTuning::program()} + own("full", {"--collect-only"}));
    QVERIFY2(failed.exitCode == app::kIo, failed.errors.constData());
    QVERIFY(!written("full").isEmpty());
    QCOMPARE(used("full"), used("first"));
    const ProgramRun rest = TinyTuning::run(own("full", {"--collect-only", "--resume"}));
    QVERIFY2(rest.exitCode == 0, rest.errors.constData());
    QCOMPARE(m_tuning.read("full.work/rows-00000.bin"), m_tuning.read("first.work/rows-00000.bin"));
}

void SwiftRunSelfPromptsTest::theyAreTrainedOnBesideTheData() {
    const ProgramRun result =
        TinyTuning::run(own("both", {"--collect-only", "--data", m_tuning.path("data.jsonl")}));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QCOMPARE(written("both"), written("first")); // whatever the data
    const QByteArray rows = m_tuning.read("both.work/rows-00000.bin");
    QVERIFY(rows.contains("letters") && rows.contains("self-made"));
    QVERIFY(!m_tuning.read("first.work/rows-00000.bin").contains("letters"));
    const ProgramRun more =
        TinyTuning::run(own("first", {"--collect-only", "--resume"}, kPrompts + 1));
    QCOMPARE(more.exitCode, int(app::kUsage));
    for (const char* part : {"41 of its own", "but was", "40 of its own"})
        QVERIFY2(more.errors.contains(part), more.errors.constData());
}

void SwiftRunSelfPromptsTest::recipesThatChangeTheModelTakeThemToo_data() {
    QTest::addColumn<QString>("recipe");
    QTest::newRow("layerskip") << "layerskip";
    QTest::newRow("space") << "space";
}

/// The tokenizer that is to be written is compared on the prompts of the data, of which there may
/// be none.
void SwiftRunSelfPromptsTest::recipesThatChangeTheModelTakeThemToo() {
    QFETCH(const QString, recipe);
    const QStringList options{"--collect-only", "--recipe", recipe};
    const ProgramRun alone = TinyTuning::run(own(recipe, options));
    QVERIFY2(alone.exitCode == 0, alone.errors.constData());
    QVERIFY(m_tuning.read(recipe + ".work/rows-00000.bin").contains("self-made"));
    const QStringList data{"--data", m_tuning.path("data.jsonl")};
    const ProgramRun both = TinyTuning::run(own(recipe + "-both", options + data));
    QVERIFY2(both.exitCode == 0, both.errors.constData());
}

/// The model does not write the token "abc", but its "ab" and "c" are read as it; a message stands
/// behind "ab".
void SwiftRunSelfPromptsTest::noPromptHasTheMask() {
    const auto isRead = [](const QByteArray& line) {
        const QString prompt = QJsonDocument::fromJson(line)["prompt"].toString();
        return prompt.startsWith('c') || prompt.contains("abc");
    };
    const QList<QByteArray> usual = used("first");
    QVERIFY(std::any_of(usual.begin(), usual.end(), isRead));
    const ProgramRun result = TinyTuning::run(
        own("masked", {"--collect-only", "--recipe", "space", "--set", "mask_token=7"}));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QList<QByteArray> prompts = used("masked");
    QCOMPARE(prompts.size(), qsizetype{kPrompts});
    for (const QByteArray& line : prompts)
        QVERIFY2(!isRead(line), line.constData());
}

void SwiftRunSelfPromptsTest::aMaskOfUsualTextsIsRefusedWithoutAnyData() {
    const ProgramRun refused = TinyTuning::run(
        own("letter", {"--collect-only", "--recipe", "space", "--set", "mask_token=0"}));
    QCOMPARE(refused.exitCode, int(app::kUsage));
    QVERIFY2(refused.errors.contains("texts hold it"), refused.errors.constData());
    QVERIFY(!m_tuning.isThere("letter.work"));
}

QTEST_GUILESS_MAIN(SwiftRunSelfPromptsTest)
#include "swift_run_self_prompts_test.moc"
