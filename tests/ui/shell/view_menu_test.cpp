// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/support/figure_view.h"
#include "tests/ui/support/view_stage.h"
#include "ui/shell/docks/explanation_card.h"
#include "ui/shell/docks/view_menu.h"

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QFileDialog>
#include <QHeaderView>
#include <QMenu>
#include <QPointer>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

using namespace support;
using namespace ui;

class ViewMenuTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<QWidget> m_window;
    std::unique_ptr<MessageBar> m_messages;
    std::unique_ptr<FigureView> m_view;
    ViewMenu* m_menu = nullptr;

    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }

    void choose(const char* text) {
        QMenu menu;
        m_menu->fill(menu, m_view.get());
        for (QAction* action : menu.actions())
            if (action->text() == QLatin1String(text)) {
                action->trigger();
                return;
            }
        QFAIL(text);
    }

private slots:

    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_window = std::make_unique<QWidget>();
        m_messages = std::make_unique<MessageBar>(m_stage->theme);
        m_view = std::make_unique<FigureView>(m_stage->context());
        m_menu = new ViewMenu(m_stage->theme, *m_messages, m_window.get());
    }

    void cleanup() {
        m_window.reset();
        m_view.reset();
        m_messages.reset();
    }

    void anSvgIsWellFormedAndOfTheViewsSize() {
        QCOMPARE(saveView(*m_view, path("a.svg")), QString());
        QXmlStreamReader xml(support::fileBytes(path("a.svg")));
        QString box;
        bool isFilled = false;
        while (!xml.atEnd()) {
            xml.readNext();
            if (xml.isStartElement() && xml.name() == QLatin1String("svg"))
                box = xml.attributes().value(QLatin1String("viewBox")).toString();
            isFilled = isFilled ||
                       (xml.isStartElement() &&
                        xml.attributes().value(QLatin1String("fill")) == QLatin1String("#0000ff"));
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(box, QStringLiteral("0 0 200 100"));
        QVERIFY(isFilled);
    }

    void aPngShowsWhatTheViewDraws() {
        QCOMPARE(saveView(*m_view, path("a.png")), QString());
        const QImage image(path("a.png"));
        QVERIFY(image.width() >= 200);
        QCOMPARE(image.width(), 2 * image.height());
        QCOMPARE(image.pixelColor(image.width() / 4, image.height() / 2), QColor(Qt::blue));
        QVERIFY(image.pixelColor(image.width() * 3 / 4, image.height() / 2) != QColor(Qt::blue));
    }

    void numbersInACsvAreNumbersAndTextIsNoFormula() {
        QCOMPARE(saveView(*m_view, path("a.csv")), QString());
        const QList<QByteArray> lines = support::fileBytes(path("a.csv")).trimmed().split('\n');
        QCOMPARE(lines.size(), 3);
        QCOMPARE(lines[0].trimmed(), QByteArray("Step,Word,x"));
        QCOMPARE(lines[1].trimmed(), QByteArray("1,\"a, b\",-0.5"));
        QVERIFY(lines[2].trimmed().endsWith(",1.25"));
        QVERIFY(!lines[2].contains(",=1+1"));
    }

    void aFolderThatIsNotThereIsToldInASentence_data() {
        QTest::addColumn<QString>("name");
        QTest::newRow("svg") << QStringLiteral("none/a.svg");
        QTest::newRow("png") << QStringLiteral("none/a.png");
        QTest::newRow("csv") << QStringLiteral("none/a.csv");
    }

    void aFolderThatIsNotThereIsToldInASentence() {
        QFETCH(QString, name);
        const QString error = saveView(*m_view, m_folder.filePath(name));
        QVERIFY(error.contains(name));
        QVERIFY(error.endsWith(QLatin1Char('.')));
        QVERIFY(error.contains(QStringLiteral("Choose another folder")));
    }

    void theMenuSavesAndTellsWhatWentWrong() {
        choose("Save data as CSV...");
        auto* dialog = m_window->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        QCOMPARE(dialog->defaultSuffix(), QStringLiteral("csv"));
        emit dialog->fileSelected(path("chosen.csv"));
        QVERIFY(support::fileBytes(path("chosen.csv")).startsWith("Step,"));
        QVERIFY(m_messages->notices().empty());
        emit dialog->fileSelected(path("none/chosen.csv"));
        QCOMPARE(m_messages->notices().size(), 1U);
        QVERIFY(m_messages->notices()[0]->kind == Notice::Kind::Error);
        QVERIFY(m_messages->notices()[0]->sentence.contains(QStringLiteral("chosen.csv")));
    }

    void underAnotherEndingIsSavedWhatTheMenuSaid() {
        choose("Save data as CSV...");
        auto* dialog = m_window->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        emit dialog->fileSelected(path("chosen.txt"));
        QVERIFY(support::fileBytes(path("chosen.txt")).startsWith("Step,"));
        emit dialog->fileSelected(path("chosen.png"));
        QVERIFY(!QImage(path("chosen.png")).isNull());
    }

    void aViewThatIsGoneBeforeItsFileIsChosenIsLeftAlone() {
        choose("Save as PNG...");
        auto* dialog = m_window->findChild<QFileDialog*>();
        m_view.reset();
        emit dialog->fileSelected(path("late.png"));
        QVERIFY(!QFile::exists(path("late.png")));
    }

    void pictureAndNumbersAreCopied() {
        choose("Copy image");
        QCOMPARE(QApplication::clipboard()->image().size(), QSize(400, 200));
        choose("Copy data");
        QVERIFY(QApplication::clipboard()->text().startsWith(QStringLiteral("Step,Word,x")));
    }

    void theTableShowsTheNumbers() {
        choose("Show as table");
        auto* table = m_window->findChild<QTableView*>();
        QVERIFY(table != nullptr);
        QCOMPARE(table->model()->rowCount(), 2);
        QCOMPARE(table->model()->columnCount(), 3);
        QCOMPARE(table->model()->index(0, 1).data().toString(), QStringLiteral("a, b"));
        QCOMPARE(table->model()->headerData(2, Qt::Horizontal).toString(), QStringLiteral("x"));
    }

    void theHeadsOfATableAreShownWhole() {
        m_view->numbers.header = {QStringLiteral("Differs from the pinned or live set"),
                                  QStringLiteral("Mean matchness when skipped"),
                                  QStringLiteral("Attention layers skipped")};
        choose("Show as table");
        const QHeaderView* head = m_window->findChild<QTableView*>()->horizontalHeader();
        for (int column = 0; column < 3; ++column)
            QVERIFY(head->sectionSize(column) >= head->sectionSizeHint(column));
    }

    void theExplanationStandsBesideItsView() {
        const QRect before = m_view->geometry();
        choose("What am I looking at?");
        QPointer<ExplanationCard> card = m_view->findChild<ExplanationCard*>();
        QVERIFY(card != nullptr);
        QCOMPARE(card->accessibleDescription(), QStringLiteral("Three numbers."));
        QVERIFY(m_messages->notices().empty());
        QCOMPARE(m_view->geometry(), before);
        QTest::keyClick(card, Qt::Key_Escape);
        QTRY_VERIFY(card.isNull());
    }

    void aPictureWithoutNumbersOffersNone() {
        m_view->numbers = {};
        QMenu menu;
        m_menu->fill(menu, m_view.get());
        for (const QAction* action : menu.actions()) {
            const bool needsNumbers = action->text().contains(QStringLiteral("data")) ||
                                      action->text().contains(QStringLiteral("table"));
            QCOMPARE(action->isEnabled(), !needsNumbers);
        }
    }
};

QTEST_MAIN(ViewMenuTest)
#include "view_menu_test.moc"
