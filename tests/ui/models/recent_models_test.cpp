// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/shown_words.h"
#include "ui/views/models/library/recent_list.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace ui;

class RecentModelsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<QSettings> m_settings;
    Theme m_theme;

    QString makeFile(const QString& name) {
        QFile file(m_folder->filePath(name));
        if (!file.open(QIODevice::WriteOnly))
            return {};
        return file.fileName();
    }

private slots:

    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_settings = std::make_unique<QSettings>(m_folder->filePath("s.ini"), QSettings::IniFormat);
    }

    void theNewestStandsFirstAndOnce() {
        RecentModels recent(*m_settings);
        recent.add({"/m/a.gguf", {}});
        recent.add({"/m/b", "Model B"});
        recent.add({"/m/./a.gguf", {}});
        QCOMPARE(recent.list().size(), std::size_t(2));
        QCOMPARE(recent.list()[0].name, QString("a"));
        QCOMPARE(recent.list()[1].name, QString("Model B"));
    }

    void aWayUpBehindALinkLeadsToTheFileThatItNames() {
        const QDir folder(m_folder->path());
        QVERIFY(folder.mkpath("real/inner"));
        QVERIFY(QFile::link(folder.filePath("real/inner"), folder.filePath("link")));
        const QString named = QFileInfo(makeFile("real/a.gguf")).canonicalFilePath();
        const QString other = makeFile("a.gguf"); // as the text of the path would have it
        RecentModels recent(*m_settings);
        RecentModel model{folder.filePath("link/../a.gguf"), {}};
        model.load.backend = "cpu";
        recent.add(model);
        QCOMPARE(recent.list().front().path, named);
        QCOMPARE(recent.loadOf(named).backend, std::string("cpu"));
        QVERIFY(recent.loadOf(other).backend.empty());
        recent.add({folder.filePath("link/./../inner/../../a.gguf"), {}});
        QCOMPARE(recent.list().front().path, QFileInfo(other).canonicalFilePath());
    }

    void noPathIsNotTheFolderOfTheProgram() {
        QCOMPARE(RecentModels::nameOf(QString()), QString());
        QCOMPARE(RecentModels::nameOf(QStringLiteral("b/../a.gguf")), QStringLiteral("a"));
    }

    void theListIsKept() {
        {
            RecentModels recent(*m_settings);
            for (int i = 0; i < 12; ++i)
                recent.add({QString("/m/%1.gguf").arg(i), {}});
            recent.remove("/m/11.gguf");
        }
        const RecentModels again(*m_settings);
        QCOMPARE(again.list().size(), std::size_t(RecentModels::kMost - 1));
        QCOMPARE(again.list()[0].path, QString("/m/10.gguf"));
    }

    void howAModelIsLoadedIsKept() {
        RecentModel model{"/m/a.gguf", {}};
        model.load.backend = "cpu";
        model.load.contextLength = 4096;
        model.load.settings = {{"threads", 4.0}, {"weights", std::string("int8")}};
        {
            RecentModels recent(*m_settings);
            recent.add(model);
            recent.add({"/m/b.gguf", {}});
        }
        const RecentModels again(*m_settings);
        const engine::LoadModel load = again.loadOf("/m/./a.gguf");
        QCOMPARE(load.path, std::string("/m/./a.gguf"));
        QCOMPARE(load.backend, std::string("cpu"));
        QCOMPARE(load.contextLength, 4096);
        QCOMPARE(load.settings, model.load.settings);
        for (const char* other : {"/m/b.gguf", "/m/never.gguf"}) {
            QCOMPARE(again.loadOf(other).contextLength, 0);
            QVERIFY(again.loadOf(other).settings.empty());
        }
    }

    void aGoneFileSaysSoAndIsNotOpened() {
        RecentModels recent(*m_settings);
        recent.add({m_folder->filePath("gone.gguf"), {}});
        recent.add({makeFile("there.gguf"), {}});
        RecentList list(m_theme, recent);
        QSignalSpy opened(&list, &RecentList::opened);
        list.setCurrentRow(1);
        QVERIFY(list.item(1)->data(Qt::AccessibleTextRole).toString().contains("gone"));
        QTest::keyClick(&list, Qt::Key_Return);
        QCOMPARE(opened.size(), 0);
        list.setCurrentRow(0);
        QTest::keyClick(&list, Qt::Key_Return);
        QCOMPARE(opened.size(), 1);
    }

    void aModelWhoseDiskIsBackCanBeOpened() {
        RecentModels recent(*m_settings);
        recent.add({m_folder->filePath("late.gguf"), {}});
        RecentList list(m_theme, recent);
        QSignalSpy opened(&list, &RecentList::opened);
        list.setCurrentRow(0);
        QTest::keyClick(&list, Qt::Key_Return);
        QCOMPARE(opened.size(), 0);
        QVERIFY(!makeFile("late.gguf").isEmpty());
        list.show();
        QTest::keyClick(&list, Qt::Key_Return);
        QCOMPARE(opened.size(), 1);
    }

    void theTipIsThePathAsItIs() {
        RecentModels recent(*m_settings);
        const QString path = QStringLiteral("/m/R&D \"best\" <b>.gguf");
        recent.add({path, {}});
        const RecentList list(m_theme, recent);
        QCOMPARE(support::shownTip(list.item(0)->toolTip()), path);
    }

    void deleteTakesOneOffTheList() {
        RecentModels recent(*m_settings);
        recent.add({"/m/a.gguf", {}});
        recent.add({"/m/b.gguf", {}});
        RecentList list(m_theme, recent);
        list.setCurrentRow(0);
        QTest::keyClick(&list, Qt::Key_Delete);
        QCOMPARE(recent.list().size(), std::size_t(1));
        QCOMPARE(list.count(), 1);
        QCOMPARE(recent.list()[0].name, QString("a"));
    }
};

QTEST_MAIN(RecentModelsTest)
#include "recent_models_test.moc"
