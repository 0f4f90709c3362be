// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "ui/views/layer_map/editing/skip_set_files.h"
#include "ui/views/layer_map/layer_map_view.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QInputDialog>
#include <QTemporaryDir>
#include <QTest>

using namespace support;
using namespace ui;

class SkipSetFilesTest : public QObject {
    Q_OBJECT

    std::unique_ptr<LayerMapRun> m_run;
    std::unique_ptr<LayerMapView> m_view;
    QTemporaryDir m_folder;

    QString fileWith(const QByteArray& text) {
        return support::writeFile(m_folder.filePath(QStringLiteral("set.json")), text);
    }

    QString manualSetSent() const {
        const auto* sent = m_run->engine->lastSent<engine::ChangeSettings>();
        return sent == nullptr ? QString()
                               : QString::fromStdString(engine::textOf(sent->values, "skip_set"));
    }

private slots:

    void init() {
        m_run = std::make_unique<LayerMapRun>(6);
        m_view = std::make_unique<LayerMapView>(m_run->context());
        m_view->resize(700, 140);
        m_view->show();
        m_run->begin();
        m_run->install(m_run->plan({1, 3}, {2}), "start");
        m_run->bridge->tick();
    }

    void cleanup() {
        m_view.reset();
        m_run.reset();
    }

    void aSavedSetHasThePublishedShapeAndComesBack() {
        const QString path = m_folder.filePath(QStringLiteral("saved.json"));
        m_view->setActions().saveTo(path);
        const auto sets = readSkipSets(path, 6);
        QVERIFY(sets.hasValue());
        QCOMPARE(sets.value().size(), std::size_t(1));
        QCOMPARE(sets.value().begin()->first, std::string("tiny_chat"));
        QCOMPARE(sets.value().begin()->second, m_run->plan({1, 3}, {2}).skipped);
        QVERIFY(m_view->notice().contains(path));
    }

    void aSavedSetIsNamedAfterItsOwnTaskAndTheWholeModel() {
        engine::ModelLoaded loaded = loadedModel(6);
        loaded.path = "/models/Qwen2.5-0.5B";
        m_run->engine->say(loaded);
        engine::PromptStarted started = promptStarted(1);
        started.task = "code";
        m_run->engine->say(started);
        m_run->install(m_run->plan({1, 3}, {2}), "start");
        started = promptStarted(2);
        started.task = "math"; // for which nothing was searched yet
        m_run->engine->say(started);
        m_run->bridge->tick();
        const QString path = m_folder.filePath(QStringLiteral("named.json"));
        m_view->setActions().saveTo(path);
        const auto sets = readSkipSets(path, 6);
        QVERIFY(sets.hasValue());
        QCOMPARE(sets.value().begin()->first, std::string("Qwen2.5-0.5B_code"));
    }

    void aLoadedSetIsTheManualSet() {
        m_view->setActions().loadFrom(fileWith(R"({"a_chat":{"attention":[2,4],"mlp":[1]}})"));
        QCOMPARE(manualSetSent(), QStringLiteral(R"({"attention":[2,4],"mlp":[1]})"));
        m_run->bridge->tick();
        QCOMPARE(m_view->model().state().skipped, m_run->plan({2, 4}, {1}).skipped);
        m_view->setActions().loadFrom(fileWith(R"({"attention":[3],"mlp":[]})"));
        QCOMPARE(manualSetSent(), QStringLiteral(R"({"attention":[3],"mlp":[]})"));
    }

    void ofSeveralSetsOneIsAskedFor() {
        m_view->setActions().loadFrom(fileWith(
            R"({"m_code":{"attention":[1],"mlp":[]},"m_chat":{"attention":[2],"mlp":[3]}})"));
        QVERIFY(manualSetSent().isEmpty());
        auto* dialog = m_view->findChild<QInputDialog*>();
        QVERIFY(dialog != nullptr);
        QCOMPARE(dialog->comboBoxItems(), QStringList({"m_chat", "m_code"}));
        dialog->setTextValue(QStringLiteral("m_chat"));
        dialog->accept();
        QCOMPARE(manualSetSent(), QStringLiteral(R"({"attention":[2],"mlp":[3]})"));
    }

    void badFilesGiveASentenceAndChangeNothing_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("no JSON") << QByteArray("layers 1 and 2");
        QTest::newRow("cut off") << QByteArray(R"({"attention":[1,)");
        QTest::newRow("a list") << QByteArray("[1,2,3]");
        QTest::newRow("nothing in it") << QByteArray("{}");
        QTest::newRow("words for layers") << QByteArray(R"({"attention":["one"],"mlp":[]})");
        QTest::newRow("a layer beyond") << QByteArray(R"({"attention":[6],"mlp":[]})");
        QTest::newRow("below zero") << QByteArray(R"({"attention":[-1],"mlp":[]})");
    }

    void badFilesGiveASentenceAndChangeNothing() {
        QFETCH(QByteArray, text);
        const QString path = fileWith(text);
        m_view->setActions().loadFrom(path);
        QVERIFY2(m_view->notice().contains(path), qPrintable(m_view->notice()));
        QVERIFY(manualSetSent().isEmpty());
        QCOMPARE(m_view->model().state().skipped, m_run->plan({1, 3}, {2}).skipped);
    }

    void aFileThatIsNotThereIsSaidSo() {
        const QString path = m_folder.filePath(QStringLiteral("nowhere.json"));
        m_view->setActions().loadFrom(path);
        QVERIFY(m_view->notice().contains(path));
        m_view->setActions().saveTo(m_folder.filePath(QStringLiteral("no/such/folder.json")));
        QVERIFY(m_view->notice().contains(QStringLiteral("was not saved")));
    }

    void theSetIsCopiedAsText() {
        m_view->setActions().copyText();
        QCOMPARE(QGuiApplication::clipboard()->text(),
                 QStringLiteral(R"({"attention":[1,3],"mlp":[2]})"));
    }

    void theLayersBehindAnExitAreSavedAndCopiedToo() {
        engine::PlanOutline exit = m_run->plan({1}, {});
        exit.exitAfterLayer = 3;
        m_run->install(exit, "exit");
        m_run->bridge->tick();
        m_view->setActions().copyText();
        QCOMPARE(QGuiApplication::clipboard()->text(),
                 QStringLiteral(R"({"attention":[1,4,5],"mlp":[4,5]})"));
        const QString path = m_folder.filePath(QStringLiteral("exit.json"));
        m_view->setActions().saveTo(path);
        const auto sets = readSkipSets(path, 6);
        QVERIFY(sets.hasValue());
        QCOMPARE(sets.value().begin()->second, m_run->plan({1, 4, 5}, {4, 5}).skipped);
    }

    void filesAreAskedForWithoutBlocking() {
        m_view->setActions().askWhereToSave();
        auto* dialog = m_view->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr && dialog->isVisible());
        QCOMPARE(dialog->acceptMode(), QFileDialog::AcceptSave);
        dialog->reject();
    }
};

QTEST_MAIN(SkipSetFilesTest)
#include "skip_set_files_test.moc"
