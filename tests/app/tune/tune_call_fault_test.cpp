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

    void everyCallMayFail_data() { support::addCallKinds(); }

    void everyCallMayFail() {
        QFETCH(QString, kind);
        support::failEachCall(
            m_tuning.command("made", {"--json"}, kFewSteps),
            kind,
            m_tuning.path("count"),
            [&] { forget(); },
            [&](const QByteArray& told) { goOn(told); });
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
