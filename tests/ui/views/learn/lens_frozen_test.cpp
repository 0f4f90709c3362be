// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/views/learn/lens_stage.h"

#include <QPushButton>

using namespace engine;
using namespace support;
using namespace ui;

/// A frozen lens stays as it is until the user asks for something.
class LensFrozenTest : public QObject, LensStage {
    Q_OBJECT

private slots:

    void cleanup() {
        m_view.reset();
        m_stage.reset();
    }

    void itsTableHasTheNumbersOfItsPicture() {
        openAndRead();
        sayTrial(0, .5);
        sayTrial(1, .9);
        const std::vector<QStringList> rows = m_view->table().rows;
        QCOMPARE(rows.size(), 5u);
        m_view->setFrozen(true);
        sayTrial(2, .1);
        QVERIFY(m_view->table().rows == rows);
        m_view->setFrozen(false);
        m_stage->settle();
        QVERIFY(m_view->table().rows != rows);
    }

    void itOutlivesItsModel() {
        openAndRead();
        const std::vector<QStringList> rows = m_view->table().rows;
        m_view->setFrozen(true);
        m_stage->tell(loadedModel(kLayers));
        m_stage->settle();
        QVERIFY(m_view->table().rows == rows);
        QVERIFY(m_view->note().isEmpty());
        QVERIFY(!m_view->readButton().isVisible()); // there is nothing to read on
        m_view->setFrozen(false);
        m_stage->settle();
        QCOMPARE(m_view->model().tokenCount(), 0);
        QVERIFY(!m_view->note().isEmpty());
    }

    void itDoesNotGrowUntilItIsAskedToReadOn() {
        open();
        answer(100);
        const std::uint64_t first = asked()->requestId;
        m_stage->tell(LensTokensRead{first, kPrompt, 0, {earlyToken()}, {}});
        m_view->setFrozen(true);
        m_stage->tell(LensTokensRead{first, kPrompt, 1, {drawnToken()}, {}});
        m_stage->tell(LensFinished{first, true, {}, .5});
        QCOMPARE(m_view->model().tokenCount(), 1);
        QVERIFY(m_view->readButton().isVisible());
        m_view->readButton().click();
        QVERIFY(!m_view->isFrozen());
        QCOMPARE(m_view->model().tokenCount(), 2);
        QCOMPARE(asked()->first, 2);
    }
};

QTEST_MAIN(LensFrozenTest)
#include "lens_frozen_test.moc"
