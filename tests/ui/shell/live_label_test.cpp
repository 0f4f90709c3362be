// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/held_timers.h"
#include "ui/shell/widgets/live_label.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QTest>

#include <random>

using namespace ui;

namespace {

/// Counts how often a widget laid out its children.
class LayoutCount : public QObject {
public:
    explicit LayoutCount(QWidget& widget) { widget.installEventFilter(this); }

    int count = 0;

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        count += event->type() == QEvent::LayoutRequest ? 1 : 0;
        return false;
    }
};

} // namespace

class LiveLabelTest : public QObject {
    Q_OBJECT

    std::unique_ptr<Theme> m_theme;
    std::unique_ptr<QWidget> m_window;
    LiveLabel* m_label = nullptr;

    void open(LiveLabel::Fit fit, int width = 400) {
        m_theme = std::make_unique<Theme>();
        m_window = std::make_unique<QWidget>();
        auto* row = new QHBoxLayout(m_window.get());
        row->setContentsMargins(0, 0, 0, 0);
        m_label = new LiveLabel(*m_theme, TextRole::Small, &Colours::muted, fit);
        row->addWidget(m_label, fit == LiveLabel::Fit::Whole ? 0 : 1);
        if (fit == LiveLabel::Fit::Whole)
            row->addStretch(1);
        m_window->resize(width, 60);
        m_window->show();
    }

    /// How often the window is laid out for the text.
    int layoutsFor(const QString& text) {
        QCoreApplication::processEvents();
        LayoutCount layouts(*m_window);
        m_label->setText(text);
        for (int turn = 0; turn < 3; ++turn)
            QCoreApplication::processEvents();
        return layouts.count;
    }

    int advance(const QString& text) const {
        return QFontMetrics(m_label->textFont()).horizontalAdvance(text);
    }

private slots:

    void cleanup() {
        m_window.reset();
        m_theme.reset();
    }

    void otherFiguresLayNothingOut() {
        open(LiveLabel::Fit::Whole);
        QVERIFY(layoutsFor(QStringLiteral("10.4 tok/s")) > 0);
        QCOMPARE(layoutsFor(QStringLiteral("98.7 tok/s")), 0);
        QCOMPARE(m_label->text(), QStringLiteral("98.7 tok/s"));
    }

    void aTextThatIsLongerTakesItsRoomAndKeepsIt() {
        open(LiveLabel::Fit::Whole);
        layoutsFor(QStringLiteral("9.9 tok/s"));
        QVERIFY(layoutsFor(QStringLiteral("10.1 tok/s")) > 0);
        QVERIFY(m_label->width() >= advance(QStringLiteral("10.1 tok/s")));
        QCOMPARE(layoutsFor(QStringLiteral("9.9 tok/s")), 0);
    }

    void aTextThatIsMuchShorterGivesItsRoomBack() {
        open(LiveLabel::Fit::Whole);
        layoutsFor(QStringLiteral("Opening a model with a long name.gguf"));
        const int before = m_label->width();
        QVERIFY(layoutsFor(QStringLiteral("Tiny")) > 0);
        QVERIFY(m_label->width() < before);
    }

    void wordsWithoutRoomAreCut() {
        open(LiveLabel::Fit::Cut, 80);
        const QString words = QStringLiteral("decode step 104 of the answer and of the chat");
        QCOMPARE(layoutsFor(words), 0);
        QVERIFY(m_label->isCut());
        QVERIFY(advance(m_label->shownText()) <= m_label->width());
        QCOMPARE(m_label->text(), words);
        m_window->resize(900, 60);
        QCoreApplication::processEvents();
        QVERIFY(!m_label->isCut());
    }

    void aSentenceHasRoomForAllItsLinesAtEverySize() {
        const QString words = QStringLiteral(
            "Once a decoder drafts, the tree of each step appears here: its candidates, and which "
            "of them the full model accepted.");
        for (int percent = 100; percent <= 200; percent += 10) {
            open(LiveLabel::Fit::Wrapped, 280);
            m_theme->setTextPercent(percent);
            layoutsFor(words);
            const int needed =
                QFontMetrics(m_label->textFont())
                    .boundingRect(QRect(0, 0, m_label->width(), 10'000), Qt::TextWordWrap, words)
                    .height();
            QVERIFY2(m_label->sizeHint().height() >= needed, qPrintable(QString::number(percent)));
        }
    }

    void aSentenceHasRoomForAllItsLinesWhateverItsDigitsAre() {
        open(LiveLabel::Fit::Wrapped, 310);
        std::mt19937 random(5);
        for (int turn = 0; turn < 400; ++turn) {
            QString words = QStringLiteral(
                "3 candidates checked in one pass: 0 accepted, 1 own. Drafted by recalling text "
                "seen before, because 1.48 tokens were expected in the time of 0.98 plain steps "
                "(4.2 ms). Not drafted by the draft adapter: only 1.53 tokens were expected in the "
                "time of 1.13 plain steps (4.8 ms).");
            for (QChar& letter : words)
                if (letter.isDigit() && turn % 2 == 1)
                    letter = QChar(static_cast<char16_t>(u'0' + random() % 10));
            m_window->resize(220 + turn / 2, 60);
            layoutsFor(words);
            const QFontMetrics metrics(m_label->textFont());
            const QRect room(0, 0, m_label->width(), 10'000);
            QVERIFY2(m_label->sizeHint().height() >=
                         metrics.boundingRect(room, Qt::TextWordWrap, words).height(),
                     qPrintable(words));
        }
    }

    void linesThatStayUnusedAreGivenBack() {
        support::HeldTimers unusedLines(LiveLabel::kKeptMs);
        open(LiveLabel::Fit::Wrapped, 160);
        const QString three = QStringLiteral(
            "12 candidates checked in one pass: 3 were accepted, and 1 more is the model's own");
        const QString two = QStringLiteral("3 candidates checked in one pass");
        layoutsFor(QStringLiteral("short"));
        const int one = m_label->sizeHint().height();
        layoutsFor(two);
        const int middle = m_label->sizeHint().height();
        layoutsFor(three);
        const int most = m_label->sizeHint().height();
        QVERIFY(one < middle && middle < most);
        // Of all that came meanwhile the longest stays whole.
        layoutsFor(two);
        layoutsFor(QStringLiteral("short"));
        QCOMPARE(m_label->sizeHint().height(), most);
        unusedLines.letOne();
        QTRY_COMPARE(m_label->sizeHint().height(), middle);
        layoutsFor(QStringLiteral("brief"));
        unusedLines.letOne();
        QTRY_COMPARE(m_label->sizeHint().height(), one);
    }

    void aSentenceTakesTheLinesItNeedsAndKeepsThem() {
        const support::HeldTimers unusedLines(LiveLabel::kKeptMs);
        open(LiveLabel::Fit::Wrapped, 160);
        layoutsFor(QStringLiteral("short"));
        const int one = m_label->sizeHint().height();
        QVERIFY(layoutsFor(QStringLiteral("12 candidates checked in one pass: 3 accepted")) > 0);
        const int several = m_label->sizeHint().height();
        QVERIFY(several > one);
        QCOMPARE(layoutsFor(QStringLiteral("short")), 0);
        QCOMPARE(m_label->sizeHint().height(), several);
        // Another width is another sentence.
        m_window->resize(900, 60);
        QCoreApplication::processEvents();
        QCOMPARE(m_label->sizeHint().height(), one);
    }

    void aLabelWithoutRoomForAllIsCutWithAnEllipsis() {
        open(LiveLabel::Fit::WholeOrCut);
        m_label->setRuns(
            {{QStringLiteral("SmolLM2-135M-Instruct"), true}, {QStringLiteral(" of a long name")}});
        m_label->resize(m_label->sizeHint());
        QCOMPARE(m_label->shownText(), m_label->text());
        QVERIFY(m_label->minimumSizeHint().width() < m_label->sizeHint().width() / 2);
        m_label->resize(m_label->minimumSizeHint());
        QVERIFY(m_label->isCut() && m_label->shownText().contains(QChar(0x2026)));
        m_label->setText(QStringLiteral("cpu"));
        QVERIFY(m_label->minimumSizeHint().width() <= m_label->sizeHint().width());
    }

    void runsAreOneTextForReaders() {
        open(LiveLabel::Fit::Whole);
        m_label->setAccessibleName(QStringLiteral("Speed"));
        m_label->setRuns({{QStringLiteral("62.2"), true}, {QStringLiteral(" tok/s")}});
        QCOMPARE(m_label->text(), QStringLiteral("62.2 tok/s"));
        QAccessibleInterface* read = QAccessible::queryAccessibleInterface(m_label);
        QVERIFY(read != nullptr);
        QCOMPARE(read->role(), QAccessible::StaticText);
        QCOMPARE(read->text(QAccessible::Name), QStringLiteral("Speed: 62.2 tok/s"));
        m_label->setAccessibleName({});
        QCOMPARE(read->text(QAccessible::Name), QStringLiteral("62.2 tok/s"));
    }
};

QTEST_MAIN(LiveLabelTest)
#include "live_label_test.moc"
