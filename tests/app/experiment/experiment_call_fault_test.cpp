// SPDX-License-Identifier: Apache-2.0
// The n-th write, flush, read, open, rename and allocation of an experiment fails. Each time the
// run ends well, or says in a sentence what failed; and resumed, it measures what an undisturbed
// run does. A sample of all n, unless SWIFT_STUDIO_FULL_FAULTS is 1.
#include "tests/app/experiment/experiment_folder.h"
#include "tests/support/programs/faulted_run.h"

#include <QDir>
#include <QTest>

using support::ExperimentFolder;
using support::ProgramRun;

class ExperimentCallFaultTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        const ProgramRun whole = m_folder.run({"--out", m_folder.out("whole")});
        QVERIFY2(whole.exitCode == app::kSuccess, whole.errors.constData());
    }

    void everyCallMayFail_data() { support::addCallKinds(); }

    void everyCallMayFail() {
        QFETCH(QString, kind);
        support::failEachCall(
            m_folder.arguments({"--json", "--out", m_folder.out()}),
            kind,
            m_folder.out("count"),
            [&] { QDir(m_folder.out()).removeRecursively(); },
            [&](const QByteArray& told) { goOn(told); });
    }

private:
    /// What was kept is used, and a run that kept nothing begins anew.
    void goOn(const QByteArray& told) const {
        ProgramRun rest = ExperimentFolder::experiment({"--resume", "--out", m_folder.out()});
        if (rest.exitCode == app::kNotFound)
            rest = m_folder.run({"--out", m_folder.out()});
        QVERIFY2(rest.exitCode == app::kSuccess, (told + " | resumed: " + rest.errors).constData());
        QVERIFY2(support::hashesOf(m_folder.opened()) ==
                     support::hashesOf(m_folder.opened("whole")),
                 told.constData());
        QVERIFY2(QFileInfo(m_folder.out() + "/report/report.html").size() > 0, told.constData());
    }

    ExperimentFolder m_folder;
};

QTEST_GUILESS_MAIN(ExperimentCallFaultTest)
#include "experiment_call_fault_test.moc"
