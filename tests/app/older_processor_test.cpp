// SPDX-License-Identifier: Apache-2.0
// The programs on a processor without AVX, emulated: everything outside the files that are compiled
// for one instruction set must be plain x86-64. The tests of the kernels run there as well, see
// runs_on_older_processor() in tests/CMakeLists.txt.
#include "app/exit_codes.h"
#include "tests/support/programs/swift_run.h"

#include <QJsonArray>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using support::ProgramRun;

namespace {

const QString kTinyModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";

QJsonArray topsOf(const ProgramRun& run) {
    QJsonArray tops;
    for (const QJsonObject& line : run.jsonLines())
        tops.append(line["top"]);
    return tops;
}

/// The largest difference of logits; infinite where the ids are others.
double difference(const QJsonArray& found, const QJsonArray& expected) {
    double largest = found.size() == expected.size() ? 0.0 : HUGE_VAL;
    for (qsizetype row = 0; row < found.size() && std::isfinite(largest); ++row)
        for (qsizetype i = 0; i < expected[row].toArray().size(); ++i) {
            const QJsonValue a = found[row][i];
            const QJsonValue b = expected[row][i];
            const double gap = std::abs(a["logit"].toDouble() - b["logit"].toDouble());
            largest = a["id"] == b["id"] ? std::max(largest, gap) : HUGE_VAL;
        }
    return largest;
}

} // namespace

class OlderProcessorTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void itHasNoAvx();
    void everyFormGivesTheNumbersOfTheScalarKernels_data();
    void everyFormGivesTheNumbersOfTheScalarKernels();
    void everyDecoderMakesVanillasTokens();
    void forcedInstructionsAreRefusedInOneSentence_data();
    void forcedInstructionsAreRefusedInOneSentence();

private:
    ProgramRun there(const QString& program, const QStringList& arguments) const {
        return support::runProgram(m_emulator,
                                   QStringList{"-cpu", "Westmere", program} + arguments);
    }

    QTemporaryDir m_memory; ///< what decoders learn
    QString m_emulator;
    QString m_swiftRun = support::swiftRunPath();
};

void OlderProcessorTest::initTestCase() {
    qputenv("SWIFT_STUDIO_DATA", m_memory.path().toUtf8());
    m_emulator = QStandardPaths::findExecutable("qemu-x86_64");
    if (m_emulator.isEmpty())
        QSKIP("no older processor is exercised here: qemu-x86_64 (package qemu-user) is missing");
}

/// What the other tests are worth: an instruction that does not belong there ends the program.
void OlderProcessorTest::itHasNoAvx() {
    if (__builtin_cpu_supports("avx2"))
        QCOMPARE(support::runProgram(TEST_AVX_PROBE, {}).exitCode, 0);
    QCOMPARE(there(TEST_AVX_PROBE, {}).exitCode, -1);
}

void OlderProcessorTest::everyFormGivesTheNumbersOfTheScalarKernels_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("form");
    QTest::newRow("always there") << kTinyModel << "file";
    for (const char* type : {"s_BF16", "s_F16", "s_Q8_0", "s_Q4_0", "s_Q4_1", "k_Q4_K", "k_Q6_K"}) {
        const QString path =
            QString(SWIFT_STUDIO_SHARED_DIR "/golden/gguf/llama_%1.gguf").arg(type);
        if (QFileInfo::exists(path))
            QTest::newRow(type) << path << "file";
    }
    for (const char* form : {"f32", "int8", "bf16"})
        QTest::newRow(form) << kTinyModel << form;
}

void OlderProcessorTest::everyFormGivesTheNumbersOfTheScalarKernels() {
    QFETCH(const QString, model);
    QFETCH(const QString, form);
    const QStringList arguments = {"forward",
                                   "--model",
                                   model,
                                   "--weights",
                                   form,
                                   "--ids",
                                   "1,2,3,4,5,6,7",
                                   "--parents",
                                   "-1,0,-1",
                                   "--top",
                                   "5",
                                   "--threads",
                                   "2",
                                   "--json"};
    const ProgramRun found = there(m_swiftRun, arguments);
    QVERIFY2(found.exitCode == 0, found.errors.constData());
    const ProgramRun expected =
        support::runProgram(m_swiftRun, arguments + QStringList{"--isa", "scalar"});
    QCOMPARE(expected.exitCode, 0);
    QCOMPARE(topsOf(found).size(), 7);
    QVERIFY(difference(topsOf(found), topsOf(expected)) <= 1e-5);
}

void OlderProcessorTest::everyDecoderMakesVanillasTokens() {
    QJsonArray expected;
    for (const char* decoder : {"vanilla", "lookup", "swift", "auto"}) {
        const ProgramRun run = there(m_swiftRun,
                                     {"generate",
                                      "--model",
                                      kTinyModel,
                                      "--decoder",
                                      decoder,
                                      "--prompt-ids",
                                      "1,9,4,1,9,4,1,9",
                                      "--max-tokens",
                                      "24",
                                      "--json"});
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const QJsonObject done = run.jsonLines().constLast();
        QCOMPARE(done["metrics"]["isa"].toString(), QString("scalar"));
        const QJsonArray tokens = done["tokens"].toArray();
        QVERIFY(!tokens.isEmpty());
        if (expected.isEmpty())
            expected = tokens;
        QCOMPARE(tokens, expected);
    }
}

void OlderProcessorTest::forcedInstructionsAreRefusedInOneSentence_data() {
    QTest::addColumn<QString>("set");
    QTest::newRow("AVX2") << "avx2";
    QTest::newRow("AVX-512") << "avx512";
    QTest::newRow("AMX") << "amx";
}

void OlderProcessorTest::forcedInstructionsAreRefusedInOneSentence() {
    QFETCH(const QString, set);
    const ProgramRun run = there(
        m_swiftRun, {"forward", "--model", kTinyModel, "--ids", "1,2", "--isa", set, "--json"});
    QCOMPARE(run.exitCode, static_cast<int>(app::kUnsupported));
    const auto lines = run.jsonLines();
    QCOMPARE(lines.size(), 1);
    QCOMPARE(lines.first()["message"].toString(),
             QString("This processor has no %1 instructions.").arg(set));
}

QTEST_GUILESS_MAIN(OlderProcessorTest)
#include "older_processor_test.moc"
