// SPDX-License-Identifier: GPL-3.0-only
// The layer map of a lesson model, whose near-silent copies are known.
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "ui/shell/docks/view_menu.h"
#include "ui/views/layer_map/layer_map_view.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace support;
using namespace ui;

class LessonMapTest : public QObject {
    Q_OBJECT

private slots:

    /// Of the copies 1 and 4, the first is skipped as a whole and the second by half.
    void theCopiesOfALessonModelAreMarkedAndCounted() {
        LayerMapRun run(6);
        LayerMapView view(run.context());
        view.show();
        engine::ModelLoaded lesson = support::loadedModel(6);
        lesson.model.silentCopies = {1, 4, 4, 9, -2}; // a recording may say anything
        run.begin();
        run.engine->say(lesson);
        run.install(run.plan({1, 2}, {1, 4}), "random");
        run.bridge->tick();
        QCOMPARE(view.model().state().silentCopies, std::vector<int>({1, 4}));
        QVERIFY(view.model().look({Sublayer::Mlp, 4}).isCopy);
        QVERIFY(!view.model().look({Sublayer::Attention, 2}).isCopy);
        QCOMPARE(view.subtitle(),
                 QStringLiteral("live set \u00B7 1 of 2 copies found, 1 more by half, sublayers of "
                                "originals skipped: 1"));
        QCOMPARE(view.model().words({Sublayer::Mlp, 4}),
                 QStringLiteral("Layer 4, MLP, skipped, silent copy"));
        run.install(run.plan({1, 4}, {1, 4}), "random");
        run.bridge->tick();
        QCOMPARE(view.subtitle(), QStringLiteral("live set \u00B7 2 of 2 copies found"));
    }

    /// On the screen its title does.
    void aSavedPictureSaysWhatIsMarked() {
        LayerMapRun run(6);
        LayerMapView view(run.context());
        view.resize(900, 160);
        view.show();
        engine::ModelLoaded lesson = support::loadedModel(6);
        lesson.model.silentCopies = {1, 4};
        run.begin();
        run.engine->say(lesson);
        run.install(run.plan({1, 2}, {1, 4}), "random");
        run.selection.setPinnedSet(run.plan({1}, {1, 4}));
        run.bridge->tick();
        QVERIFY(view.model().state().reference.has_value());
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("map.svg"));
        QCOMPARE(saveView(view, path), QString());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray picture = file.readAll();
        for (const char* words :
             {"2 attention", "locked", "silent copy", "differs from pinned set (1)"})
            QVERIFY2(picture.contains(words), words);
    }
};

QTEST_MAIN(LessonMapTest)
#include "lesson_map_test.moc"
