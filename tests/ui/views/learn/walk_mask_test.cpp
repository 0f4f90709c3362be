// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/pictures/walk_mask.h"

#include <QTest>
#include <QVBoxLayout>

using namespace ui;

/// The rows of a pass, and the tokens of a search's candidate.
class WalkMaskTest : public QObject {
    Q_OBJECT

    static void settle() {
        for (int turn = 0; turn < 4; ++turn)
            QCoreApplication::processEvents();
    }

private slots:

    void tokensThatNeedMoreLinesWhereItIsNarrowGetThem() {
        const Theme theme;
        WalkScene scene;
        engine::TrialFinished trial;
        trial.ticks.assign(60, 1);
        scene.walk.shape = engine::shapeOf({});
        scene.walk.stops = {engine::RoundStop::Search};
        scene.walk.trials = {trial};
        QWidget window;
        auto* mask = new WalkMask(theme);
        auto* column = new QVBoxLayout(&window);
        column->addWidget(mask);
        column->addStretch(1);
        mask->show(&scene);
        window.resize(900, 1200);
        window.show();
        settle();
        const int inWide = mask->height();
        QCOMPARE(inWide, mask->sizeHint().height());
        window.resize(300, 1200);
        settle();
        QVERIFY(mask->height() > inWide);
        QCOMPARE(mask->height(), mask->sizeHint().height());
        window.resize(900, 1200);
        settle();
        QCOMPARE(mask->height(), inWide);
    }
};

QTEST_MAIN(WalkMaskTest)
#include "walk_mask_test.moc"
