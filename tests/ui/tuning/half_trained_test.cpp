// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/tuning/scripted_tuning.h"

#include <QTest>

using namespace support;
using namespace ui;

/// The best state of a training that is not finished, as an adapter that can be used, with a
/// stand-in for swift-run.
class HalfTrainedTest : public QObject, private TuningBench {
    Q_OBJECT

    QString best() const { return m_script->path(QStringLiteral("best.safetensors")); }

    static QByteArray bytesOf(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    void trainToAHalf() {
        m_script->write(QStringLiteral("best.safetensors"), "weights");
        m_script->say({Script::started(),
                       Script::stepped(100, 3.0),
                       Script::evaluated(100, 0.62),
                       Script::best(best(), 100)});
        session().start(m_script->choice());
        QTRY_VERIFY(session().halfTrained() != nullptr);
        QTRY_VERIFY(session().canUseResult());
    }

private slots:

    void init() { renew(); }

    void cleanup() { clear(); }

    void theNewestBestStateIsKnown() {
        trainToAHalf();
        const TuningBest& half = *session().halfTrained();
        QCOMPARE(half.step, 100);
        QCOMPARE(half.score.acceptance.front(), 0.62);
        QVERIFY(half.isHeldOut);
        QVERIFY(!tuningEventOf(Script::best(best(), 100).replace("0.62", "1.2")));
        QVERIFY(!tuningEventOf(Script::best(best(), 100).replace(R"("step":100,)", "")));
    }

    void itIsUsedAndTakenAwayWhileTheTrainingGoesOn() {
        trainToAHalf();
        session().useResult();
        QTRY_VERIFY(session().isResultUsed());
        QCOMPARE(bytesOf(session().usedAdapter()), QByteArray("weights"));
        QVERIFY(state() == TuningState::Running);
        session().removeUsedAdapter();
        QTRY_VERIFY(!QFileInfo::exists(session().usedAdapter()));
        QTRY_VERIFY(session().canUseResult());
    }

    void itIsThereBehindAStopAndARestart() {
        trainToAHalf();
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        QVERIFY(session().canUseResult());
        reopen();
        QVERIFY(session().halfTrained() != nullptr);
        QVERIFY(session().canUseResult());
        QVERIFY(QFile::remove(best()));
        QVERIFY(session().halfTrained() == nullptr);
        QVERIFY(!session().canUseResult());
    }

    void aResultTakesItsPlace() {
        trainToAHalf();
        session().useResult();
        QTRY_VERIFY(session().isResultUsed());
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        finish();
        QVERIFY(session().halfTrained() == nullptr);
        QTRY_VERIFY(session().adapterUse().used() == AdapterUse::Used::Other);
        QVERIFY(session().canUseResult());
    }
};

QTEST_GUILESS_MAIN(HalfTrainedTest)
#include "half_trained_test.moc"
