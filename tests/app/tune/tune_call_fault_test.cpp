// SPDX-License-Identifier: Apache-2.0
// The n-th write, flush, read, open, rename and allocation of a training fails. Each time it ends
// well, or says in a sentence what failed; and resumed, it makes an adapter that fits its model. A
// sample of all n, unless SWIFT_STUDIO_FULL_FAULTS is 1.
#include "app/exit_codes.h"
#include "tests/app/tune/tiny_tuning.h"
#include "tests/support/programs/faulted_run.h"

#include <QTest>

using support::ProgramRun;
using test_support::TinyTuning;

class TuneCallFaultTest : public QObject {
    Q_OBJECT

private slots:

    void everyCallMayFail_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"write", "flush", "read", "open", "rename", "alloc"})
            QTest::newRow(kind) << kind;
    }

    void everyCallMayFail() {
        QFETCH(QString, kind);
        const QStringList command = m_tuning.command("made", {"--json"}, kFewSteps);
        forget();
        const ProgramRun whole =
            support::runWithFault(command, {}, kind, 0, m_tuning.path("count"));
        QVERIFY2(whole.exitCode == app::kSuccess, whole.errors.constData());
        const long count = m_tuning.read("count").trimmed().toLong();
        QVERIFY(count > 0);
        const int expected = kind == "alloc" ? app::kNoMemory : app::kIo;
        for (const long n : support::sampleOfCalls(count, 2)) {
            forget();
            const ProgramRun failed =
                support::runWithFault(command, {}, kind, n, m_tuning.path("count"));
            const QByteArray told = QString("%1 of %2, exit code %3: ")
                                        .arg(n)
                                        .arg(count)
                                        .arg(failed.exitCode)
                                        .toUtf8() +
                                    failed.errors;
            QVERIFY2(failed.exitCode == 0 || failed.exitCode == expected, told.constData());
            if (failed.exitCode != 0)
                QVERIFY2(failed.errors.contains("swift-run: "), told.constData());
            goOn(told);
            if (QTest::currentTestFailed())
                return;
        }
    }

private:
    static constexpr int kFewSteps = 20;

    void forget() const {
        QFile::remove(m_tuning.path("made"));
        QDir(m_tuning.path("made.work")).removeRecursively();
    }

    /// What was kept is used, and a run that kept nothing begins anew.
    void goOn(const QByteArray& told) const {
        if (!m_tuning.isThere("made")) {
            const QStringList more =
                m_tuning.isThere("made.work/plan.json") ? QStringList{"--resume"} : QStringList();
            const ProgramRun rest = TinyTuning::run(m_tuning.command("made", more, kFewSteps));
            QVERIFY2(rest.exitCode == app::kSuccess,
                     (told + " | resumed: " + rest.errors).constData());
        }
        const ProgramRun check = TinyTuning::run(
            {"tune", "--check", m_tuning.path("made"), "--model", m_tuning.path("model")});
        QVERIFY2(check.exitCode == app::kSuccess, (told + check.errors).constData());
    }

    TinyTuning m_tuning;
};

QTEST_GUILESS_MAIN(TuneCallFaultTest)
#include "tune_call_fault_test.moc"
