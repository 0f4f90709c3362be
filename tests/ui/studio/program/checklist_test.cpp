// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/support/studio_stage.h"

#include <QDirIterator>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>

#include <set>

using namespace support;
using namespace ui;

namespace {

/// A text of the window as the list writes it: without access letter, key and dots.
QString plain(QString text) {
    text.remove(QLatin1Char('&')).remove(QStringLiteral("...")).remove(QChar(0x2026));
    return text.section(u'\t', 0, 0).section(QStringLiteral("Workspace: "), -1).trimmed();
}

} // namespace

/// The list by which the window is walked through by hand (tests/ui/README.md) names everything
/// that the window has, and only tests that there are.
class ChecklistTest : public QObject {
    Q_OBJECT

    std::vector<QStringList> m_rows; ///< the cells of each line of its tables
    std::unique_ptr<StudioStage> m_stage;

    MainWindow& window() { return m_stage->studio->window(); }

    /// Those of `names` that no row begins with or holds in its first cell.
    QStringList missing(const QStringList& names) const {
        QStringList lacking;
        for (const QString& name : names)
            if (std::ranges::none_of(m_rows, [&](const QStringList& row) {
                    return row.front().contains(name, Qt::CaseInsensitive);
                }))
                lacking << name;
        return lacking;
    }

private slots:

    void initTestCase() {
        for (const QString& line :
             QString::fromUtf8(support::fileBytes(QStringLiteral("tests/ui/README.md")))
                 .split(u'\n'))
            if (line.startsWith(u'|') && !line.startsWith(QLatin1String("| ---")))
                m_rows.push_back(line.mid(1).split(u'|'));
        QVERIFY(m_rows.size() > 100);
        m_stage = std::make_unique<StudioStage>();
        m_stage->open();
        m_stage->loadModel();
    }

    void cleanupTestCase() { m_stage.reset(); }

    void everyActionStandsInIt() {
        QStringList names;
        for (const ActionCatalog::Entry& entry : window().actionCatalog().entries())
            names << plain(entry.action->text());
        QVERIFY(names.size() > 50);
        QVERIFY2(missing(names).isEmpty(), qPrintable(missing(names).join(u'\n')));
    }

    void everyDockStandsInIt() {
        QStringList names;
        for (const Workspace* workspace : window().workspaces())
            for (const QDockWidget* dock : workspace->docks())
                names << plain(dock->windowTitle());
        QVERIFY(names.size() > 15);
        QVERIFY2(missing(names).isEmpty(), qPrintable(missing(names).join(u'\n')));
    }

    /// Of buttons and of what stands beside a title; menus of a click are made when they are asked
    /// for.
    void everyEntryOfAMenuStandsInIt() {
        QStringList names;
        for (const QMenu* menu : window().findChildren<QMenu*>())
            for (const QAction* action : menu->actions())
                if (!action->isSeparator() && action->menu() == nullptr)
                    names << plain(action->text());
        for (const View* view : m_stage->studio->views())
            for (const QAction* action : view->actions())
                names << plain(action->text());
        names.removeDuplicates();
        names.removeAll(QString());
        QVERIFY2(missing(names).isEmpty(), qPrintable(missing(names).join(u'\n')));
    }

    void itsTestsExist() {
        std::set<QString> tests;
        QDirIterator files(QStringLiteral("tests"),
                           {QStringLiteral("*_test.cpp")},
                           QDir::Files,
                           QDirIterator::Subdirectories);
        while (files.hasNext())
            tests.insert(QFileInfo(files.next()).baseName().chopped(5));
        static const QRegularExpression name(QStringLiteral("^[a-z0-9_]+$"));
        static const QRegularExpression brackets(QStringLiteral("\\([^)]*\\)"));
        QStringList unknown;
        int named = 0;
        for (const QStringList& row : m_rows) {
            if (row.size() < 3)
                continue;
            QString cell = row[2];
            for (QString word :
                 cell.remove(brackets).replace(u';', u',').split(u',', Qt::SkipEmptyParts)) {
                word = word.trimmed();
                if (!name.match(word).hasMatch())
                    continue;
                ++named;
                if (!tests.contains(word))
                    unknown << word;
            }
        }
        QVERIFY(named > 100);
        QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join(u'\n')));
    }
};

QTEST_MAIN(ChecklistTest)
#include "checklist_test.moc"
