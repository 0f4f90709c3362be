// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/lesson_panel.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QImage>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QWindow>

#include <algorithm>

using namespace engine;
using namespace ui;

namespace {

/// Remembers what a lesson asked for; its facts are set by the test.
class RecordingHand : public LessonHand {
public:
    QString obstacle(const Lesson&) const override { return m_obstacle; }

    void begin() override {}

    void end() override { ++m_ended; }

    void forget() override { ++m_forgotten; }

    bool isReady() const override { return m_isReady; }

    void act(const Lesson&, const LessonAction& action) override { m_done.push_back(action); }

    void show(const std::string& view) override { m_view = view; }

    LessonFacts facts() const override { return m_facts; }

    QString m_obstacle;
    bool m_isReady = true;
    LessonFacts m_facts;
    std::vector<LessonAction> m_done;
    std::string m_view;
    int m_ended = 0;
    int m_forgotten = 0;
};

/// Facts with which all conditions hold.
LessonFacts factsFor(const LessonCheck& check) {
    LessonFacts facts;
    for (const LessonCondition& each : check.conditions) {
        if (each.is)
            facts.insert_or_assign(each.fact, *each.is);
        else
            facts.insert_or_assign(each.fact, each.atLeast ? *each.atLeast : *each.atMost);
    }
    return facts;
}

} // namespace

class LessonPlayerTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    LessonCatalog m_catalog = LessonCatalog::of(QStringLiteral("resources/lessons"));
    QTemporaryDir m_folder;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<RecordingHand> m_hand;
    std::unique_ptr<LessonPlayer> m_player;

    const Lesson& lesson(const std::string& name) const {
        return *std::ranges::find(m_catalog.lessons, name, &Lesson::name);
    }

    void follow(int ticks = 10) {
        for (int i = 0; i < ticks; ++i)
            m_player->follow();
    }

private slots:

    void init() {
        m_settings =
            std::make_unique<QSettings>(m_folder.filePath("settings.ini"), QSettings::IniFormat);
        m_settings->clear();
        m_hand = std::make_unique<RecordingHand>();
        m_player = std::make_unique<LessonPlayer>(*m_hand, *m_settings);
    }

    void allLessonsAreReadInTheirOrder() {
        QVERIFY2(m_catalog.problems.isEmpty(), qPrintable(m_catalog.problems.join('\n')));
        QVERIFY(m_catalog.lessons.size() >= 8);
        QVERIFY(std::ranges::is_sorted(m_catalog.lessons, {}, &Lesson::order));
    }

    void everyCheckOfEveryLessonIsFailedAndThenPassed() {
        for (const Lesson& each : m_catalog.lessons) {
            m_hand->m_facts.clear();
            QVERIFY(m_player->start(each).isEmpty());
            for (int i = 0; i < m_player->stepCount(); ++i) {
                m_hand->m_facts.clear();
                m_player->goTo(i);
                follow();
                const QByteArray place =
                    QString("%1, step %2").arg(each.name.c_str()).arg(i + 1).toUtf8();
                const LessonCheck& check = *m_player->step().check;
                QVERIFY2(!m_player->verdict().isRight, place);
                for (std::size_t k = 0; k < check.answers.size(); ++k) {
                    m_player->answer(static_cast<int>(k));
                    QVERIFY2(m_player->verdict().isRight == check.answers[k].isRight, place);
                    QVERIFY2(!m_player->verdict().sentence.empty(), place);
                }
                if (check.answers.empty()) {
                    m_hand->m_facts = factsFor(check);
                    follow(1);
                    QVERIFY2(m_player->verdict().isRight, place);
                }
                QVERIFY2(m_player->isDone(i), place);
            }
        }
    }

    void theReplyToWhatIsDoneHasTheNumbersOfNow() {
        QVERIFY(m_player->start(lesson("search")).isEmpty());
        m_player->goTo(1);
        follow();
        m_hand->m_facts = {{"search.trials", 10.0}, {"search.best", 0.25}};
        follow(1);
        QVERIFY(QString::fromStdString(m_player->verdict().sentence).startsWith("10 trials"));
        m_hand->m_facts = {{"search.trials", 60.0}, {"search.best", 0.75}};
        follow(1);
        QVERIFY(QString::fromStdString(m_player->verdict().sentence).startsWith("60 trials"));
        m_hand->m_facts = {{"search.trials", 1.0}, {"search.best", 0.0}}; // a new search
        follow(1);
        QVERIFY(m_player->verdict().isRight);
        QVERIFY(QString::fromStdString(m_player->verdict().sentence).startsWith("60 trials"));
    }

    void whatIsDoneIsKeptAndGoneOnWith() {
        const Lesson& first = lesson("one_token");
        QVERIFY(m_player->start(first).isEmpty());
        m_hand->m_facts = factsFor(*m_player->step().check);
        follow();
        QVERIFY(m_player->isDone(0));
        m_hand->m_facts.clear();
        LessonPlayer later(*m_hand, *m_settings);
        QCOMPARE(later.doneSteps(first), 1);
        QVERIFY(later.start(first).isEmpty());
        QVERIFY(later.isDone(0));
        m_settings->setValue("lessons/one_token", QVariantList{0, 99, -1, "x"});
        QCOMPARE(later.doneSteps(first), 1);
    }

    void aLessonGoesOnAtTheStepThatMakesTheAnswerAnew() {
        m_settings->setValue("lessons/one_token", QVariantList{0, 1});
        QVERIFY(m_player->start(lesson("one_token")).isEmpty());
        QCOMPARE(m_player->stepIndex(), 0); // the only one with a button
        QVERIFY(m_player->isDone(1));
        m_settings->setValue("lessons/early_exit", QVariantList{0});
        QVERIFY(m_player->start(lesson("early_exit")).isEmpty());
        QCOMPARE(m_player->stepIndex(), 1);
    }

    /// However many steps are done, the one that is gone on with lacks nothing of those before it.
    void everyLessonGoesOnWhereWhatItsStepsSpeakOfIsMade() {
        for (const Lesson& each : m_catalog.lessons)
            for (int done = 1; done < static_cast<int>(each.steps.size()); ++done) {
                QVariantList kept;
                for (int i = 0; i < done; ++i)
                    kept.append(i);
                m_settings->setValue(QString("lessons/%1").arg(each.name.c_str()), kept);
                QVERIFY(m_player->start(each).isEmpty());
                QVERIFY(m_player->stepIndex() <= done);
                bool choosesDecoder = m_player->stepIndex() == 0;
                bool makes = m_player->stepIndex() == 0;
                for (const auto* actions : {&m_player->step().prepare, &m_player->step().actions})
                    for (const LessonAction& action : *actions) {
                        choosesDecoder = choosesDecoder || !action.decoder.empty();
                        makes = makes || !action.ask.empty() || !action.compares.empty();
                    }
                const QByteArray place =
                    QString("%1, %2 steps done").arg(each.name.c_str()).arg(done).toUtf8();
                QVERIFY2(makes && choosesDecoder, place);
            }
    }

    void aStepThatComparesOrSearchesChoosesItsDecoderItself() {
        for (const Lesson& each : m_catalog.lessons)
            for (const LessonStep& step : each.steps) {
                bool choosesDecoder = false;
                for (const auto* actions : {&step.prepare, &step.actions})
                    for (const LessonAction& action : *actions) {
                        choosesDecoder = choosesDecoder || !action.decoder.empty();
                        QVERIFY2(choosesDecoder || (action.compares.empty() && !action.searches),
                                 step.title.c_str());
                    }
            }
    }

    void anotherStepDoesNotWaitForAnActionThatNeverEnds() {
        QVERIFY(m_player->start(lesson("one_token")).isEmpty());
        follow();
        const int before = m_hand->m_forgotten;
        m_player->goTo(1);
        QCOMPARE(m_hand->m_forgotten, before + 1);
    }

    void aLessonThatIsLeftGivesTheWindowBack() {
        m_player->leave();
        QCOMPARE(m_hand->m_ended, 0); // none ran
        QVERIFY(m_player->start(lesson("one_token")).isEmpty());
        m_player->leave();
        QCOMPARE(m_hand->m_ended, 1);
    }

    void whatTheLessonsModelLacksIsSaidOnceItIsThere() {
        LessonPanel panel(m_theme, m_catalog, *m_player);
        panel.begin(lesson("search"));
        QVERIFY(m_player->lesson() != nullptr);
        m_hand->m_obstacle = "in step 2 a decoder is missing.";
        m_player->follow(); // the model is there
        QVERIFY(m_player->lesson() == nullptr);
        QVERIFY2(panel.obstacle().contains("in step 2 a decoder is missing."),
                 qPrintable(panel.obstacle()));
    }

    void whatWasThereBeforeTheLessonIsNoDeedOfTheLearner() {
        const Lesson& first = lesson("one_token");
        m_hand->m_facts = factsFor(*first.steps[0].check);
        m_hand->m_facts.insert_or_assign("model.layers", 30.0);
        QVERIFY(m_player->start(first).isEmpty());
        follow();
        QVERIFY(!m_player->verdict().isRight);
        QVERIFY(!m_player->verdict().sentence.empty());
        QCOMPARE(m_player->facts().size(), std::size_t(1));     // of the model alone
        m_hand->m_facts.insert_or_assign("answer.tokens", 1.0); // a new answer begins
        follow();
        QVERIFY(!m_player->verdict().isRight);
        m_hand->m_facts = factsFor(*first.steps[0].check);
        follow();
        QVERIFY(m_player->verdict().isRight);
    }

    void aCheckIsLookedAtOnlyOnceItsStepIsPrepared() {
        QVERIFY(m_player->start(lesson("skipping")).isEmpty());
        follow();
        m_hand->m_facts = factsFor(*lesson("skipping").steps[1].check);
        m_hand->m_isReady = false;
        m_player->goTo(1);
        follow();
        QVERIFY(!m_player->isPrepared());
        QVERIFY(!m_player->verdict().isRight);
        m_hand->m_isReady = true;
        follow();
        QVERIFY(m_player->isPrepared());
        QVERIFY(m_player->verdict().isRight);
    }

    void actionsAreDoneOneByOneOnceTheWindowIsReady() {
        QVERIFY(m_player->start(lesson("one_token")).isEmpty());
        follow();
        m_hand->m_done.clear();
        m_hand->m_isReady = false;
        m_player->press();
        follow();
        QVERIFY(m_hand->m_done.empty());
        QVERIFY(m_player->isBusy());
        m_hand->m_isReady = true;
        m_player->follow();
        QCOMPARE(m_hand->m_done.size(), std::size_t(1));
        QCOMPARE(m_hand->m_done.at(0).decoder, std::string("vanilla"));
        m_player->follow();
        QCOMPARE(m_hand->m_done.size(), std::size_t(2));
        QVERIFY(!m_hand->m_done.at(1).ask.empty());
        m_hand->m_isReady = false; // the answer is on its way
        m_player->follow();
        QVERIFY(m_player->isBusy());
        m_hand->m_isReady = true;
        m_player->follow();
        QVERIFY(!m_player->isBusy());
    }

    void aLessonLoadsTheModelThatItNeeds() {
        QVERIFY(m_player->start(lesson("search")).isEmpty());
        follow();
        QVERIFY(!m_hand->m_done.empty());
        QCOMPARE(m_hand->m_done.at(0).model, std::string("planted"));
        QCOMPARE(m_hand->m_view, std::string("layer_map"));
    }

    void aLessonThatCannotBeginSaysWhyInTheList() {
        LessonPanel panel(m_theme, m_catalog, *m_player);
        panel.show();
        m_hand->m_obstacle = "a recording is shown.";
        panel.lessonButtons().front()->click();
        QVERIFY(m_player->lesson() == nullptr);
        QVERIFY(panel.obstacle().contains("a recording is shown."));
        m_hand->m_obstacle.clear();
        panel.lessonButtons().front()->click();
        QVERIFY(m_player->lesson() != nullptr);
        QVERIFY(panel.obstacle().isEmpty());
    }

    void thePanelShowsTheStepItsAnswersAndTheReply() {
        LessonPanel panel(m_theme, m_catalog, *m_player);
        panel.show();
        panel.begin(lesson("one_token"));
        m_hand->m_facts = {{"answer.tokens", 24.0}, {"model.layers", 30.0}};
        m_player->goTo(1);
        follow();
        QCOMPARE(panel.answers().buttons().size(), 3);
        QVERIFY(panel.answers().button(1)->text().startsWith("24: one for each"));
        QTest::keyClick(panel.answers().button(0), Qt::Key_Space);
        QVERIFY(panel.reply().startsWith("It cannot"));
        panel.answers().button(1)->click();
        QVERIFY(panel.reply().startsWith(QStringLiteral("\u2713 Right.")));
        panel.nextButton().click();
        QCOMPARE(m_player->stepIndex(), 2);
        QTest::keyClick(&panel, Qt::Key_PageUp);
        QCOMPARE(m_player->stepIndex(), 1);
        QVERIFY(panel.text().toPlainText().contains("Count the passes"));
        QTest::keyClick(&panel, Qt::Key_Escape);
        QVERIFY(m_player->lesson() == nullptr);
        QVERIFY(panel.lessonNotes().front()->text().startsWith("1 of 4 steps"));
    }

    void thePanelSaysItsStepItsQuestionAndTheReplyToAScreenReader() {
        LessonPanel panel(m_theme, m_catalog, *m_player);
        QVERIFY(panel.accessibleDescription().isEmpty());
        panel.begin(lesson("one_token"));
        m_player->goTo(1);
        follow();
        const QString told = panel.accessibleDescription();
        QVERIFY2(told.startsWith("Step 2 of 4, 0 done. "), qPrintable(told));
        QVERIFY2(told.contains(QString::fromStdString(m_player->step().title)), qPrintable(told));
        QVERIFY2(told.endsWith('?'), qPrintable(told));
        panel.answers().button(1)->click();
        QVERIFY(!panel.reply().isEmpty());
        QVERIFY(panel.accessibleDescription().startsWith("Step 2 of 4, 1 done. "));
        QVERIFY(panel.accessibleDescription().endsWith(panel.reply()));
        QVERIFY(panel.nextButton().toolTip().contains("Page Down"));
        m_player->leave();
        QVERIFY(panel.accessibleDescription().isEmpty());
    }

    void theFocusOfThePanelIsSeen() {
        QWidget window;
        auto* other = new QPushButton(&window);
        LessonPanel panel(m_theme, m_catalog, *m_player, &window);
        window.resize(400, 500);
        panel.resize(panel.width(), 400);
        window.show();
        QTRY_VERIFY(window.isActiveWindow());
        panel.begin(lesson("one_token"));
        other->setFocus();
        QVERIFY(!panel.hasFocus());
        const QImage without = panel.grab().toImage();
        panel.setFocus();
        QVERIFY(panel.hasFocus());
        QVERIFY(panel.grab().toImage() != without);
    }

    /// The bars of steps that are done are higher than the others.
    void whichStepsAreDoneIsToldWithoutColour() {
        m_settings->setValue("lessons/one_token", QVariantList{1});
        LessonPanel panel(m_theme, m_catalog, *m_player);
        panel.show();
        panel.begin(lesson("one_token"));
        QWidget* bars = nullptr;
        for (QWidget* widget : panel.findChildren<QWidget*>())
            if (widget->accessibleName().endsWith(" of 4, 1 done"))
                bars = widget;
        QVERIFY(bars != nullptr);
        const QImage picture = bars->grab().toImage();
        const auto isHigh = [&](int step) {
            const int x = (2 * step + 1) * picture.width() / 8;
            return picture.pixel(x, 0) == picture.pixel(x, picture.height() - 1);
        };
        QVERIFY(isHigh(1));
        QVERIFY(!isHigh(0) && !isHigh(2) && !isHigh(3));
    }

    void anAmpersandInTheWordsOfALessonIsShown() {
        Lesson own = lesson("one_token");
        own.title = "Attention & MLP";
        own.steps[0].button = "Ask & see";
        own.steps[1].check->answers[0].text = "This & that";
        const LessonCatalog catalog{{own}, {}};
        LessonPanel panel(m_theme, catalog, *m_player);
        QCOMPARE(panel.lessonButtons().front()->text(), "1  Attention && MLP");
        QVERIFY(panel.lessonButtons().front()->shortcut().isEmpty());
        panel.begin(own);
        QCOMPARE(panel.actButton().text(), "Ask && see");
        m_player->goTo(1);
        QCOMPARE(panel.answers().button(0)->text(), "This && that");
        QVERIFY(panel.answers().button(0)->shortcut().isEmpty());
    }

    void noWordOfAStepIsCutOff_data() {
        QTest::addColumn<int>("percent");
        QTest::newRow("usual text") << 100;
        QTest::newRow("large text") << 150;
    }

    void noWordOfAStepIsCutOff() {
        QFETCH(int, percent);
        m_theme.setTextPercent(percent);
        LessonPanel panel(m_theme, m_catalog, *m_player);
        panel.resize(panel.width(), 800);
        panel.show();
        QTRY_VERIFY(panel.windowHandle() != nullptr && panel.windowHandle()->isExposed());
        for (const Lesson& each : m_catalog.lessons) {
            panel.begin(each);
            for (int i = 0; i < m_player->stepCount(); ++i) {
                m_player->goTo(i);
                follow(1);
                QCoreApplication::processEvents();
                const QByteArray place =
                    QString("%1, step %2").arg(each.name.c_str()).arg(i + 1).toUtf8();
                QTextBrowser& text = panel.text();
                QTRY_VERIFY2(text.height() >= text.document()->size().height(), place);
                QTRY_VERIFY2(text.height() <= text.document()->size().height() + 2, place);
                for (const QAbstractButton* answer : panel.answers().buttons())
                    QVERIFY2(answer->height() >= answer->heightForWidth(answer->width()) &&
                                 answer->visibleRegion().boundingRect().width() == answer->width(),
                             place);
            }
        }
        m_theme.setTextPercent(100);
    }

    void aReplyBelowTheFoldIsScrolledTo() {
        LessonPanel panel(m_theme, m_catalog, *m_player);
        panel.resize(panel.width(), 320);
        panel.show();
        QTRY_VERIFY(panel.windowHandle() != nullptr && panel.windowHandle()->isExposed());
        panel.begin(lesson("one_token"));
        m_player->goTo(3);
        follow();
        QCoreApplication::processEvents();
        panel.answers().button(0)->click();
        const auto labels = panel.findChildren<QLabel*>();
        const auto reply = std::ranges::find(labels, panel.reply(), &QLabel::text);
        QVERIFY(reply != labels.end());
        QTRY_COMPARE((*reply)->visibleRegion().boundingRect().height(), (*reply)->height());
    }

    void aPressedButtonLeavesTheFocusInTheLesson() {
        QWidget window;
        auto* other = new QPushButton(&window);
        LessonPanel panel(m_theme, m_catalog, *m_player, &window);
        QWidget::setTabOrder(&panel, other);
        window.show();
        QTRY_VERIFY(window.isActiveWindow());
        panel.begin(lesson("one_token"));
        follow();
        panel.actButton().setFocus();
        QVERIFY(panel.actButton().hasFocus());
        m_hand->m_isReady = false;
        QTest::keyClick(&panel.actButton(), Qt::Key_Space);
        QVERIFY(!panel.actButton().isEnabled());
        QWidget* focus = QApplication::focusWidget();
        QVERIFY(focus == &panel || panel.isAncestorOf(focus));
    }

    void behindTheLastStepTheNextLessonFollows() {
        LessonPanel panel(m_theme, m_catalog, *m_player);
        panel.begin(m_catalog.lessons.front());
        m_player->goTo(m_player->stepCount() - 1);
        QCOMPARE(panel.nextButton().text(), "Next lesson");
        panel.nextButton().click();
        QCOMPARE(m_player->lesson()->order, 2);
        panel.begin(m_catalog.lessons.back());
        m_player->goTo(m_player->stepCount() - 1);
        QCOMPARE(panel.nextButton().text(), "All lessons");
        panel.nextButton().click();
        QVERIFY(m_player->lesson() == nullptr);
    }

    void aTextOfALessonOpensAndLoadsNothing() {
        LessonPanel panel(m_theme, m_catalog, *m_player);
        QVERIFY(!panel.text().openLinks());
        QVERIFY(!panel.text()
                     .loadResource(QTextDocument::ImageResource, QUrl("file:///etc/hostname"))
                     .isValid());
    }
};

QTEST_MAIN(LessonPlayerTest)
#include "lesson_player_test.moc"
