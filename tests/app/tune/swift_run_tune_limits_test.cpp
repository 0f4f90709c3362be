// SPDX-License-Identifier: Apache-2.0
// The room that `swift-run tune` may take on the disk, and what --compare refuses. No function
// needs LibTorch or a decoder.
#include "app/exit_codes.h"
#include "tests/app/tune/tiny_tuning.h"

#include <QTest>

using support::ProgramRun;
using test_support::TinyTuning;

namespace {

const QString kOut = "limited.safetensors";

} // namespace

class SwiftRunTuneLimitsTest : public QObject {
    Q_OBJECT

private slots:
    void aTrainingKeepsToItsRoomOnTheDisk();
    void aRunGoesOnWithOtherLimits();
    void onlyACopyIsMeasuredBesideAModel();

private:
    TinyTuning m_tuning;
};

void SwiftRunTuneLimitsTest::aTrainingKeepsToItsRoomOnTheDisk() {
    const auto with = [&](const QStringList& more) {
        return m_tuning.bare(kOut, QStringList{"--collect-only", "--json", "--disk-gb"} + more);
    };
    const ProgramRun tooMuch = TinyTuning::run(with({"0.001", "--answer-tokens", "10000"}));
    QCOMPARE(tooMuch.exitCode, int(app::kIo));
    const QString sentence = tooMuch.jsonLines().constLast()["message"].toString();
    // An answer's row, and one of a prompt: a stream of 48, a token and the ten best ones.
    QVERIFY2(sentence.contains("about 0.0036 GB on the disk, and --disk-gb allows 0.001"),
             qPrintable(sentence));
    QVERIFY(!m_tuning.isThere(kOut) && !m_tuning.isThere(kOut + ".work"));
    // Where time decides, there are as many as fit.
    const ProgramRun fitting = TinyTuning::run(with({"0.05", "--minutes", "0.02"}));
    const qint64 planned = fitting.jsonLines().constFirst()["answer_tokens"].toInteger();
    QVERIFY2(planned >= 1000 && planned < 50'000'000 / 360, qPrintable(QString::number(planned)));
    QDir(m_tuning.path(kOut + ".work")).removeRecursively();
}

void SwiftRunTuneLimitsTest::aRunGoesOnWithOtherLimits() {
    const auto with = [&](const QStringList& more) {
        return m_tuning.bare(
            kOut, QStringList{"--collect-only", "--json", "--answer-tokens", "5000"} + more);
    };
    const ProgramRun first = TinyTuning::run(with({"--minutes", "1000"}));
    QVERIFY2(first.exitCode == 0, first.errors.constData());
    const QByteArray rows = m_tuning.read(kOut + ".work/rows-00000.bin");
    QVERIFY(!rows.isEmpty());
    const ProgramRun longer =
        TinyTuning::run(with({"--resume", "--minutes", "2000", "--disk-gb", "1"}));
    QVERIFY2(longer.exitCode == 0, longer.errors.constData());
    // The answers that are there take more.
    const ProgramRun tooMuch =
        TinyTuning::run(with({"--resume", "--minutes", "2000", "--disk-gb", "0.0004"}));
    QCOMPARE(tooMuch.exitCode, int(app::kIo));
    const QString sentence = tooMuch.jsonLines().constLast()["message"].toString();
    QVERIFY2(sentence.contains("needs about 0.00") && sentence.contains("--disk-gb allows 0.0004"),
             qPrintable(sentence));
    QCOMPARE(m_tuning.read(kOut + ".work/rows-00000.bin"), rows);
    const ProgramRun unlimited = TinyTuning::run(with({"--resume"}));
    QCOMPARE(unlimited.exitCode, int(app::kUsage));
    QDir(m_tuning.path(kOut + ".work")).removeRecursively();
}

void SwiftRunTuneLimitsTest::onlyACopyIsMeasuredBesideAModel() {
    const QStringList compare = {"tune", "--model", m_tuning.path("model"), "--compare"};
    const QStringList data = {"--data", m_tuning.path("data.jsonl")};
    support::expectRefusal(TinyTuning::run(compare + QStringList{m_tuning.path("other")} + data),
                           app::kUsage,
                           {"other is no copy of a model", "--recipe layerskip"});
    support::expectRefusal(TinyTuning::run(compare + QStringList{m_tuning.path("other")}),
                           app::kUsage,
                           {"--compare needs prompts", "--data"});
    support::expectRefusal(TinyTuning::run(compare + QStringList{m_tuning.path("other")} + data +
                                           QStringList{"--out", m_tuning.path(kOut)}),
                           app::kUsage,
                           {"--compare only measures", "--out"});
    m_tuning.write("other/tuning.json", R"({"swift_studio_tuning":1,"files":[]})");
    support::expectRefusal(TinyTuning::run(compare + QStringList{m_tuning.path("other")} + data),
                           app::kCorruptFile,
                           {"tuning.json does not say how the copy was made"});
    const QByteArray quality = R"("quality":{"before":{"perplexity":5},"after":{"perplexity":5},)"
                               R"("agreement":1}})";
    m_tuning.write("other/tuning.json",
                   R"({"swift_studio_tuning":1,"fingerprint":"f00d",)"
                   R"("recipe":{"name":"space"},)" +
                       quality);
    support::expectRefusal(TinyTuning::run(compare + QStringList{m_tuning.path("other")} + data),
                           app::kUsage,
                           {"The copy was made of the model f00d", "--model"});
    QFile::remove(m_tuning.path("other/tuning.json"));
}

QTEST_GUILESS_MAIN(SwiftRunTuneLimitsTest)
#include "swift_run_tune_limits_test.moc"
