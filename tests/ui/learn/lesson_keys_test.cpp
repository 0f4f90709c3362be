// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/lesson_panel.h"

#include <QButtonGroup>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>

using namespace engine;
using namespace ui;

namespace {

/// A window in which nothing has to be done.
class IdleHand : public LessonHand {
public:
    QString obstacle(const Lesson& lesson) const override {
        return lesson.name == m_refused ? QStringLiteral("a recording is shown.") : QString();
    }

    void begin() override {}

    void end() override {}

    void forget() override {}

    bool isReady() const override { return true; }

    void act(const Lesson&, const LessonAction&) override {}

    void show(const std::string&) override {}

    LessonFacts facts() const override { return m_facts; }

    std::string m_refused;
    LessonFacts m_facts;
};

LessonAnswer answer(const std::string& text, const std::string& reply) {
    LessonAnswer made;
    made.text = text;
    made.reply = reply;
    return made;
}

} // namespace

/// The lessons without a mouse, and what they say where it is not in sight.
class LessonKeysTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    QTemporaryDir m_folder;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<IdleHand> m_hand;
    std::unique_ptr<LessonPlayer> m_player;
    LessonCatalog m_catalog;
    std::unique_ptr<LessonPanel> m_panel;

    /// The first step is longer than the panel is high, the second is short.
    static Lesson lesson(int order) {
        Lesson made;
        made.name = "lesson_" + std::to_string(order);
        made.title = "Lesson";
        made.summary = "A summary of some words, so that the list of them is long.";
        made.order = order;
        made.minutes = 5;
        made.needs.model = "any";
        LessonStep step;
        step.title = "Long";
        step.view = "chat";
        for (int i = 0; i < 60; ++i)
            step.text += "A paragraph of the text.\n\n";
        made.steps.push_back(step);
        step.title = "Short";
        step.text = "A word.";
        step.check.emplace();
        step.check->question = "How many of {{answer.tokens}} tokens?";
        step.check->answers = {answer("All", "{{answer.tokens}} were written."),
                               answer("None", "No.")};
        made.steps.push_back(step);
        return made;
    }

    QScrollBar& scroll(QWidget& inside) const {
        for (QWidget* each = inside.parentWidget(); each != nullptr; each = each->parentWidget())
            if (auto* area = qobject_cast<QScrollArea*>(each))
                return *area->verticalScrollBar();
        Q_UNREACHABLE();
    }

    static void settle() {
        for (int i = 0; i < 6; ++i)
            QCoreApplication::processEvents();
    }

private slots:

    void init() {
        m_settings = std::make_unique<QSettings>(m_folder.filePath(QStringLiteral("settings.ini")),
                                                 QSettings::IniFormat);
        m_settings->clear();
        m_hand = std::make_unique<IdleHand>();
        m_player = std::make_unique<LessonPlayer>(*m_hand, *m_settings);
        m_catalog = {};
        for (int order = 1; order <= 12; ++order)
            m_catalog.lessons.push_back(lesson(order));
        m_panel = std::make_unique<LessonPanel>(m_theme, m_catalog, *m_player);
        m_panel->resize(m_panel->width(), 400);
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get(), support::kPatienceMs));
    }

    void cleanup() { m_panel.reset(); }

    void aLongStepIsReadToItsEndAndLeftByItsKeys() {
        m_panel->begin(m_catalog.lessons.front());
        settle();
        QScrollBar& bar = scroll(m_panel->text());
        QVERIFY(bar.maximum() > 0);
        QTest::keyClick(&m_panel->text(), Qt::Key_Down);
        QVERIFY(bar.value() > 0);
        QTest::keyClick(&m_panel->text(), Qt::Key_Up);
        QCOMPARE(bar.value(), 0);
        int pages = 0;
        for (; bar.value() < bar.maximum() && pages < 100; ++pages)
            QTest::keyClick(&m_panel->text(), Qt::Key_PageDown);
        QVERIFY(pages > 1);
        QCOMPARE(m_player->stepIndex(), 0);
        QTest::keyClick(&m_panel->text(), Qt::Key_PageDown);
        QCOMPARE(m_player->stepIndex(), 1);
        settle();
        QTest::keyClick(&m_panel->text(), Qt::Key_PageUp);
        QCOMPARE(m_player->stepIndex(), 0);
    }

    void theKeysAreTheSameOnAnAnswer() {
        m_panel->begin(m_catalog.lessons.front());
        m_player->goTo(1);
        settle();
        QTest::keyClick(m_panel->answers().button(0), Qt::Key_PageUp);
        QCOMPARE(m_player->stepIndex(), 0);
    }

    void whyALessonCannotBeginIsSeenBelowAllOthersToo() {
        m_hand->m_refused = m_catalog.lessons.back().name;
        settle();
        QPushButton* last = m_panel->lessonButtons().back();
        QScrollBar& bar = scroll(*last);
        bar.setValue(bar.maximum());
        QVERIFY(bar.value() > 0);
        last->click();
        settle();
        QVERIFY(m_panel->obstacle().contains(QStringLiteral("a recording is shown.")));
        QCOMPARE(m_panel->accessibleDescription(), m_panel->obstacle());
        for (const QLabel* label : m_panel->findChildren<QLabel*>())
            if (label->text() == m_panel->obstacle())
                QCOMPARE(label->visibleRegion().boundingRect(), label->rect());
    }

    void aReplyHasTheNumbersOfItsQuestion() {
        m_panel->begin(m_catalog.lessons.front());
        m_player->goTo(1);
        m_hand->m_facts = {{"answer.tokens", 24.0}};
        m_player->follow();
        m_panel->answers().button(0)->click();
        QCOMPARE(m_panel->reply(), QStringLiteral("24 were written."));
        m_hand->m_facts = {{"answer.tokens", 30.0}}; // another answer was asked for
        m_player->follow();
        QCOMPARE(m_panel->reply(), QStringLiteral("30 were written."));
    }
};

QTEST_MAIN(LessonKeysTest)
#include "lesson_keys_test.moc"
