// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/figure_view.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/view_stage.h"
#include "ui/shell/docks/dock_title.h"
#include "ui/shell/widgets/live_label.h"

#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using namespace support;
using namespace ui;

class DockTitleTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<FigureView> m_view;
    std::unique_ptr<DockTitle> m_title;

    QLabel* labelWith(const QString& text) const {
        for (QLabel* label : m_title->findChildren<QLabel*>())
            if (label->text() == text || label->toolTip() == text)
                return label;
        return nullptr;
    }

    LiveLabel* subtitle() const { return m_title->findChild<LiveLabel*>(); }

    QString tip() const { return shownTip(subtitle()->toolTip()); }

    bool isSubtitleInItsRoom() const {
        return QFontMetrics(subtitle()->textFont()).horizontalAdvance(subtitle()->shownText()) <=
               subtitle()->width();
    }

    QToolButton* buttonNamed(const QString& name) const {
        for (QToolButton* button : m_title->findChildren<QToolButton*>())
            if (button->accessibleName() == name)
                return button;
        return nullptr;
    }

private slots:

    void init() {
        m_title.reset();
        m_view.reset();
        m_stage = std::make_unique<ViewStage>();
        m_view = std::make_unique<FigureView>(m_stage->context());
        m_title = std::make_unique<DockTitle>(m_stage->theme, m_view->info().title, m_view.get());
        m_title->resize(600, 28);
        m_title->show();
    }

    void cleanup() {
        m_title.reset();
        m_view.reset();
    }

    void badgeAndSubtitleFollowTheView() {
        QVERIFY(labelWith(QStringLiteral("live")) == nullptr);
        m_view->setBadge(QStringLiteral("live"));
        m_view->setSubtitle(QStringLiteral("two of three"));
        QVERIFY(labelWith(QStringLiteral("live"))->isVisible());
        QCOMPARE(subtitle()->text(), QStringLiteral("two of three"));
        QVERIFY(subtitle()->isVisible());
        QLabel* badge = labelWith(QStringLiteral("live"));
        m_view->setBadge({});
        QVERIFY(!badge->isVisible());
    }

    void freezeStopsTheViewAndGoesBothWays() {
        QToolButton* freeze = buttonNamed(QStringLiteral("Freeze Figure"));
        QTest::mouseClick(freeze, Qt::LeftButton);
        QVERIFY(m_view->isFrozen());
        m_view->show();
        QVERIFY(!m_view->isShowing());
        m_view->setFrozen(false);
        QVERIFY(!freeze->isChecked());
    }

    void moreAsksForTheMenuBelowItself() {
        QSignalSpy asked(m_title.get(), &DockTitle::menuAsked);
        QToolButton* more = buttonNamed(QStringLiteral("More for Figure"));
        QTest::keyClick(more, Qt::Key_Space);
        QCOMPARE(asked.count(), 1);
        QCOMPARE(asked[0][0].toPoint(), more->mapToGlobal(QPoint(0, more->height())));
        QVERIFY(more->focusPolicy() & Qt::TabFocus);
    }

    void wordsThatDoNotFitAreCutAndStayReadableAsATip() {
        const QString words =
            QStringLiteral("how <b>fast</b> each answer was, against the full model");
        m_view->setSubtitle(words);
        m_title->resize(900, 28);
        QVERIFY(tip().isEmpty());
        m_title->resize(260, 28);
        QCOMPARE(tip(), words);
        QVERIFY(subtitle()->shownText() != words);
        QVERIFY(isSubtitleInItsRoom());
    }

    void ofWordsThatAreNearlyGoneNothingIsLeft() {
        const QString words = QStringLiteral("how fast each answer was, against the full model");
        m_view->setSubtitle(words);
        for (int width = 120; width <= 600; width += 4) {
            m_title->resize(width, 28);
            const auto letters = subtitle()->shownText().size();
            QVERIFY2(letters == 0 || letters >= 10, qPrintable(subtitle()->shownText()));
            QCOMPARE(tip(), letters == words.size() ? QString() : words);
        }
    }

    void wordsAreCutAnewWhenABadgeTakesTheirRoom() {
        const QString words = QStringLiteral("how fast each answer was, against the full model");
        m_view->setSubtitle(words);
        m_title->resize(430, 28);
        const int before = subtitle()->width();
        m_view->setBadge(QStringLiteral("live"));
        QCoreApplication::processEvents();
        QVERIFY(subtitle()->width() < before);
        QVERIFY(isSubtitleInItsRoom());
        QCOMPARE(tip(), words);
    }

    void wordsAreCutAnewWhenTheLegendGrows() {
        const QString words = QStringLiteral("how fast each answer was, against the full model");
        m_view->setSubtitle(words);
        m_title->findChild<QLabel*>(QStringLiteral("legend"))
            ->setText(QStringLiteral("three lines, two of them dashed, and a dot"));
        QCoreApplication::processEvents();
        QVERIFY(isSubtitleInItsRoom());
        QCOMPARE(tip(), words);
    }

    void theLegendGivesWayBeforeTheName() {
        auto* legend = m_title->findChild<QLabel*>(QStringLiteral("legend"));
        m_title->resize(600, 28);
        QVERIFY(legend->isVisible());
        m_title->setFixedWidth(220); // or the window grows with it
        QVERIFY(legend->isVisible());
        legend->setText(QStringLiteral("three lines, two of them dashed, and a dot"));
        QCoreApplication::processEvents();
        QVERIFY(!legend->isVisible());
        QLabel* name = labelWith(QStringLiteral("Figure"));
        QVERIFY(name->width() >= name->sizeHint().width());
    }

    void anAddedButtonGivesWayBeforeTheName() {
        QWidget dock;
        auto* title = new DockTitle(m_stage->theme, m_view->info().title, m_view.get(), &dock);
        auto* button = new QToolButton(title);
        button->setText(QStringLiteral("Slow motion"));
        title->addButton(button);
        dock.show();
        title->resize(600, 28);
        QVERIFY(button->isVisible());
        title->resize(150, 28);
        QVERIFY(!button->isVisible());
        QCoreApplication::processEvents();
        const auto* name = title->findChild<QLabel*>();
        QCOMPARE(name->text(), m_view->info().title);
        QVERIFY(name->width() >= name->sizeHint().width());
        title->resize(600, 28);
        QVERIFY(button->isVisible());
    }

    void aNameWithoutRoomEndsInAnEllipsis() {
        const QString whole = QStringLiteral("Run & <i>hardware</i> of this experiment");
        QWidget dock;
        DockTitle bare(m_stage->theme, whole, nullptr, &dock);
        dock.show();
        bare.resize(120, 28);
        const auto* name = bare.findChild<QLabel*>();
        QVERIFY(name->text().endsWith(QChar(0x2026)));
        QCOMPARE(shownTip(name->toolTip()), whole);
        bare.resize(600, 28);
        QCOMPARE(name->text(), whole);
        QVERIFY(name->toolTip().isEmpty());
    }

    void aTitleWithoutAViewHasANameOnly() {
        DockTitle bare(m_stage->theme, QStringLiteral("Chats"), nullptr);
        bare.resize(200, 28);
        bare.show();
        QVERIFY(bare.findChildren<QToolButton*>().isEmpty());
    }
};

QTEST_MAIN(DockTitleTest)
#include "dock_title_test.moc"
