// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/commands/shortcut_list.h"

#include <QAbstractItemModelTester>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

using namespace ui;

namespace {

QList<QKeySequence> keys(const char* text) { return {QKeySequence(QString::fromLatin1(text))}; }

} // namespace

class ActionCatalogTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<QWidget> m_window;
    std::unique_ptr<ActionCatalog> m_catalog;
    Theme m_theme;
    int m_opened = 0;
    int m_closed = 0;

    /// As at a start of the program, with the settings that are there.
    void restart() {
        m_catalog.reset();
        m_window = std::make_unique<QWidget>();
        m_settings = std::make_unique<QSettings>(m_folder->filePath(QStringLiteral("keys.ini")),
                                                 QSettings::IniFormat);
        m_catalog = std::make_unique<ActionCatalog>(*m_window, *m_settings);
        m_catalog->add(QStringLiteral("file.open"),
                       QStringLiteral("File"),
                       QStringLiteral("&Open"),
                       keys("Ctrl+O"),
                       [this] { ++m_opened; });
        m_catalog->add(QStringLiteral("file.close"),
                       QStringLiteral("File"),
                       QStringLiteral("&Close"),
                       keys("Ctrl+W"),
                       [this] { ++m_closed; });
        m_catalog->add(
            QStringLiteral("view.larger"),
            QStringLiteral("View"),
            QStringLiteral("Larger"),
            {QKeySequence(QStringLiteral("Ctrl++")), QKeySequence(QStringLiteral("Ctrl+="))},
            [] {});
    }

    QList<QKeySequence> keysOf(const char* id) const {
        return m_catalog->find(QLatin1String(id))->shortcuts();
    }

    static QPushButton* button(const ShortcutList& list, const char* text) {
        for (QPushButton* each : list.findChildren<QPushButton*>())
            if (each->text() == QLatin1String(text))
                return each;
        return nullptr;
    }

private slots:

    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_opened = 0;
        m_closed = 0;
        restart();
    }

    void anActionActsByItsKeysWhereverTheFocusIs() {
        auto* field = new QLineEdit(m_window.get());
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get(), support::kPatienceMs));
        field->setFocus();
        QTest::keyClick(field, Qt::Key_O, Qt::ControlModifier);
        QCOMPARE(m_opened, 1);
        QCOMPARE(m_closed, 0);
        QVERIFY(m_catalog->find(QStringLiteral("nothing")) == nullptr);
    }

    void changedKeysAreKeptForTheNextStart() {
        m_catalog->setKeys(QStringLiteral("file.open"), keys("Ctrl+Shift+,"));
        m_catalog->setKeys(
            QStringLiteral("view.larger"),
            {QKeySequence(QStringLiteral("F7")), QKeySequence(QStringLiteral("Ctrl+;"))});
        restart();
        QCOMPARE(keysOf("file.open"), keys("Ctrl+Shift+,"));
        QCOMPARE(keysOf("view.larger").size(), 2);
        QCOMPARE(keysOf("view.larger").last(), QKeySequence(QStringLiteral("Ctrl+;")));
        QCOMPARE(keysOf("file.close"), keys("Ctrl+W"));
    }

    void actionsWithoutKeysStaySoAndDoNotConflict() {
        for (const char* id : {"file.open", "file.close"})
            m_catalog->setKeys(QLatin1String(id), {});
        restart();
        QVERIFY(keysOf("file.open").isEmpty());
        QVERIFY(keysOf("file.close").isEmpty());
        QVERIFY(m_catalog->conflicts(QStringLiteral("file.open")).isEmpty());
    }

    void resettingBringsTheFirstKeysBackAndForgetsTheOthers() {
        m_catalog->setKeys(QStringLiteral("file.open"), keys("F2"));
        QSignalSpy changed(m_catalog.get(), &ActionCatalog::keysChanged);
        m_catalog->resetKeys(QStringLiteral("file.open"));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(keysOf("file.open"), keys("Ctrl+O"));
        QVERIFY(!m_settings->contains(QStringLiteral("keys/file.open")));
    }

    void conflictsNameTheOtherActionsWithoutTheirMnemonics() {
        QVERIFY(m_catalog->conflicts(QStringLiteral("file.open")).isEmpty());
        m_catalog->setKeys(QStringLiteral("file.close"), keys("Ctrl+="));
        QCOMPARE(m_catalog->conflicts(QStringLiteral("view.larger")),
                 QStringList(QStringLiteral("Close")));
        QCOMPARE(m_catalog->conflicts(QStringLiteral("file.close")),
                 QStringList(QStringLiteral("Larger")));
        QVERIFY(m_catalog->conflicts(QStringLiteral("file.open")).isEmpty());
    }

    void theModelShowsActionsKeysAndGroups() {
        ShortcutModel model(*m_catalog);
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(model.index(0, ShortcutModel::Action).data().toString(), QStringLiteral("Open"));
        QCOMPARE(model.index(0, ShortcutModel::Keys).data().toString(), QStringLiteral("Ctrl+O"));
        QCOMPARE(model.index(2, ShortcutModel::Group).data().toString(), QStringLiteral("View"));
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        m_catalog->setKeys(QStringLiteral("file.close"), keys("Ctrl+O"));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(model.index(0, ShortcutModel::Keys).data().toString(),
                 QStringLiteral("Ctrl+O (conflict)"));
        QVERIFY(model.index(1, ShortcutModel::Keys)
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains(QStringLiteral("Open")));
    }

    void theSearchFindsActionsAndKeys() {
        ShortcutList list(m_theme, *m_catalog);
        auto* search = list.findChild<QLineEdit*>(QString(), Qt::FindDirectChildrenOnly);
        auto* table = list.findChild<QTableView*>();
        QTest::keyClicks(search, QStringLiteral("clo"));
        QCOMPARE(table->model()->rowCount(), 1);
        QCOMPARE(table->model()->index(0, 0).data().toString(), QStringLiteral("Close"));
        search->setText(QStringLiteral("ctrl+o"));
        QCOMPARE(table->model()->index(0, 0).data().toString(), QStringLiteral("Open"));
        search->setText(QStringLiteral("("));
        QCOMPARE(table->model()->rowCount(), 0);
    }

    void typedKeysAreGivenToTheChosenActionAndConflictsAreTold() {
        ShortcutList list(m_theme, *m_catalog);
        list.show();
        auto* table = list.findChild<QTableView*>();
        auto* edit = list.findChild<QKeySequenceEdit*>();
        QPushButton* reset = button(list, "Reset");
        table->selectRow(1);
        QCOMPARE(edit->keySequence(), QKeySequence(QStringLiteral("Ctrl+W")));
        edit->setKeySequence(QKeySequence(QStringLiteral("Ctrl+O")));
        emit edit->editingFinished();
        QCOMPARE(keysOf("file.close"), keys("Ctrl+O"));
        const auto saysConflict = [&list] {
            const auto labels = list.findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
                return label->text().contains(QStringLiteral("also used by: Open"));
            });
        };
        QVERIFY(saysConflict());
        QTest::mouseClick(reset, Qt::LeftButton);
        QCOMPARE(keysOf("file.close"), keys("Ctrl+W"));
        QVERIFY(!saysConflict());
        QCOMPARE(edit->keySequence(), QKeySequence(QStringLiteral("Ctrl+W")));
    }

    /// The field waits a second for further keys.
    void keysThatWereJustTypedAreKeptWhenAnotherActionIsChosenOrTheListIsClosed() {
        ShortcutList list(m_theme, *m_catalog);
        list.show();
        auto* table = list.findChild<QTableView*>();
        auto* edit = list.findChild<QKeySequenceEdit*>();
        table->selectRow(0);
        QTest::keyClick(edit, Qt::Key_J, Qt::ControlModifier);
        table->selectRow(1);
        QCOMPARE(keysOf("file.open"), keys("Ctrl+J"));
        QCOMPARE(keysOf("file.close"), keys("Ctrl+W"));
        QCOMPARE(edit->keySequence(), QKeySequence(QStringLiteral("Ctrl+W")));
        QTest::keyClick(edit, Qt::Key_L, Qt::ControlModifier);
        list.reject();
        QCOMPARE(keysOf("file.close"), keys("Ctrl+L"));
    }

    void theKeysOfAnActionCanBeTakenAwayForGood() {
        {
            ShortcutList list(m_theme, *m_catalog);
            list.show();
            auto* table = list.findChild<QTableView*>();
            auto* edit = list.findChild<QKeySequenceEdit*>();
            QPushButton* none = button(list, "No key");
            QVERIFY(none != nullptr);
            table->selectRow(0);
            QTest::mouseClick(none, Qt::LeftButton);
            QVERIFY(keysOf("file.open").isEmpty());
            QVERIFY(edit->keySequence().isEmpty());
            QVERIFY(!none->isEnabled());
            table->selectRow(1);
            QVERIFY(none->isEnabled());
            QTest::keyClick(edit, Qt::Key_Backspace);
            table->selectRow(2);
            QTest::keyClick(edit, Qt::Key_Delete);
            table->selectRow(0);
            list.accept();
        }
        restart();
        for (const char* id : {"file.open", "file.close", "view.larger"})
            QVERIFY2(keysOf(id).isEmpty(), id);
        {
            ShortcutList list(m_theme, *m_catalog);
            list.show();
            list.findChild<QTableView*>()->selectRow(2);
            QTest::mouseClick(button(list, "Reset"), Qt::LeftButton);
        }
        restart();
        QCOMPARE(keysOf("view.larger").size(), 2);
        QVERIFY(keysOf("file.open").isEmpty());
    }

    void enterInTheSearchFieldChangesNoKeys() {
        m_catalog->setKeys(QStringLiteral("file.open"), keys("F2"));
        ShortcutList list(m_theme, *m_catalog);
        list.show();
        QTest::keyClick(list.findChild<QLineEdit*>(QString(), Qt::FindDirectChildrenOnly),
                        Qt::Key_Return);
        QCOMPARE(keysOf("file.open"), keys("F2"));
    }

    void aModifierAloneTakesNoKeysAway() {
        ShortcutList list(m_theme, *m_catalog);
        list.show();
        auto* edit = list.findChild<QKeySequenceEdit*>();
        QTest::keyPress(edit, Qt::Key_Shift);
        emit edit->editingFinished(); // as when Tab leads back to the table
        QCOMPARE(keysOf("file.open"), keys("Ctrl+O"));
        QCOMPARE(edit->keySequence(), QKeySequence(QStringLiteral("Ctrl+O")));
    }
};

QTEST_MAIN(ActionCatalogTest)
#include "action_catalog_test.moc"
