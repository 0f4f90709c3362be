// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/lesson_panel.h"

#include "ui/icons/icons.h"
#include "ui/learn/lessons/wrapping_choice.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/text/formula_browser.h"

#include <QAbstractTextDocumentLayout>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTextBlock>
#include <QTextList>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace ui {

using namespace engine;

/// A bar for each step: the present one has the colour of what is chosen; those that are done are
/// higher than the others.
class LessonProgress : public QWidget {
public:
    LessonProgress(const Theme& theme, const LessonPlayer& player, QWidget* parent)
        : QWidget(parent)
        , m_theme(theme)
        , m_player(player) {}

    QSize sizeHint() const override { return {m_theme.scaled(120), m_theme.scaled(5)}; }

protected:
    void paintEvent(QPaintEvent*) override {
        const int count = m_player.stepCount();
        if (count == 0)
            return;
        QPainter painter(this);
        const Colours& colours = m_theme.colours();
        const int gap = m_theme.scaled(4);
        const int wide = (width() + gap) / count - gap;
        const int low = m_theme.scaled(2);
        for (int i = 0; i < count; ++i)
            painter.fillRect(i * (wide + gap),
                             m_player.isDone(i) ? 0 : height() - low,
                             wide,
                             m_player.isDone(i) ? height() : low,
                             i == m_player.stepIndex() ? colours.accent
                             : m_player.isDone(i)      ? colours.success
                                                       : colours.border);
    }

private:
    const Theme& m_theme;
    const LessonPlayer& m_player;
};

namespace {

constexpr int kLineHeight = 125; // percent

QString words(const std::string& text) { return QString::fromStdString(text); }

} // namespace

LessonPanel::LessonPanel(const Theme& theme,
                         const LessonCatalog& catalog,
                         LessonPlayer& player,
                         QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_catalog(catalog)
    , m_player(player)
    , m_title(plainLabel(this, true))
    , m_all(new QToolButton(this))
    , m_pages(new QStackedWidget(this)) {
    setAccessibleName(tr("Lessons"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHead());
    column->addWidget(m_pages, 1);
    m_pages->addWidget(makeList());
    m_pages->addWidget(makeLesson());
    connect(&player, &LessonPlayer::moved, this, &LessonPanel::showPage);
    connect(&player, &LessonPlayer::refused, this, &LessonPanel::showObstacle);
    connect(&player, &LessonPlayer::changed, this, [this] {
        showText();
        showReply();
    });
    connect(&theme, &Theme::changed, this, &LessonPanel::restyle);
    restyle();
    showPage();
}

QWidget* LessonPanel::makeHead() {
    auto* head = new QWidget(this);
    auto* row = new QHBoxLayout(head);
    m_title->setProperty("tone", "bold");
    m_all->setText(tr("All lessons"));
    auto* close = new QToolButton(head);
    close->setText(tr("Close"));
    close->setAccessibleName(tr("Close the lessons"));
    row->addWidget(m_title, 1);
    row->addWidget(m_all);
    row->addWidget(close);
    connect(m_all, &QToolButton::clicked, &m_player, &LessonPlayer::leave);
    connect(close, &QToolButton::clicked, this, &LessonPanel::closeAsked);
    return head;
}

QWidget* LessonPanel::makeList() {
    auto* list = new QWidget;
    list->setProperty("ground", "panel");
    auto* rows = new QVBoxLayout(list);
    m_obstacle = plainLabel(list, true);
    m_obstacle->setProperty("tone", "problem");
    m_obstacle->hide();
    rows->addWidget(m_obstacle);
    for (const Lesson& lesson : m_catalog.lessons) {
        auto* button = new QPushButton(list);
        button->setText(tr("%1  %2").arg(lesson.order).arg(menuText(words(lesson.title))));
        rows->addWidget(button);
        auto* summary = plainLabel(list, true);
        summary->setProperty("tone", "small");
        m_lessonNotes.push_back(summary);
        rows->addWidget(summary);
        connect(button, &QPushButton::clicked, this, [this, &lesson] { begin(lesson); });
        m_lessonButtons.push_back(button);
    }
    for (const QString& problem : m_catalog.problems) {
        auto* line = plainLabel(list, true);
        line->setText(problem);
        line->setProperty("tone", "problem");
        rows->addWidget(line);
    }
    auto* own = new QPushButton(tr("Open a lesson of your own..."), list);
    rows->addWidget(own, 0, Qt::AlignLeft);
    rows->addStretch(1);
    connect(own, &QPushButton::clicked, this, &LessonPanel::fileAsked);
    m_list = new ColumnScroll;
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setWidget(list);
    return m_list;
}

/// The step scrolls as a whole, so that neither its text nor an answer is ever cut off.
QWidget* LessonPanel::makeLesson() {
    auto* lesson = new QWidget;
    auto* parts = new QVBoxLayout(lesson);
    m_progress = new LessonProgress(m_theme, m_player, lesson);
    m_scroll = new ColumnScroll(lesson);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->installEventFilter(this);
    parts->addWidget(m_progress);
    parts->addWidget(m_scroll, 1);
    parts->addWidget(makeFoot());
    m_scroll->setWidget(makeStep());
    return lesson;
}

QWidget* LessonPanel::makeStep() {
    auto* page = new QWidget;
    page->setProperty("ground", "panel");
    auto* rows = new QVBoxLayout(page);
    rows->setContentsMargins(0, 0, 0, 0);
    m_text = new FormulaBrowser(m_theme, page); // opens nothing: a lesson may come from anybody
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_text->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_text->setAccessibleName(tr("Text of the lesson"));
    m_text->installEventFilter(this);
    m_act = new QPushButton(tr("Do it"), page);
    m_act->setProperty("kind", "primary");
    m_question = plainLabel(page, true);
    m_question->setProperty("tone", "bold");
    m_answerRows = new QVBoxLayout;
    m_answers = new QButtonGroup(this);
    m_reply = plainLabel(page, true);
    m_show = new QPushButton(tr("Show me"), page);
    m_show->setToolTip(tr("Does what is asked for, so that you can go on"));
    rows->addWidget(m_text);
    rows->addWidget(m_act, 0, Qt::AlignLeft);
    rows->addWidget(m_question);
    rows->addLayout(m_answerRows);
    rows->addWidget(m_reply);
    rows->addWidget(m_show, 0, Qt::AlignLeft);
    rows->addStretch(1);
    connect(m_text->document()->documentLayout(),
            &QAbstractTextDocumentLayout::documentSizeChanged,
            this,
            &LessonPanel::fitText);
    connect(m_act, &QPushButton::clicked, &m_player, &LessonPlayer::press);
    connect(m_show, &QPushButton::clicked, &m_player, &LessonPlayer::showSolution);
    connect(m_answers, &QButtonGroup::idClicked, &m_player, &LessonPlayer::answer);
    connect(m_answers, &QButtonGroup::idClicked, this, [this] { // once it is laid out
        QTimer::singleShot(0, m_reply, [this] { m_scroll->ensureWidgetVisible(m_reply); });
    });
    return page;
}

/// What is to be done stands right below the text, which is as tall as it must be. The size that
/// the signal tells may be one of an unfinished layout, so the document is asked.
void LessonPanel::fitText() {
    const int height = static_cast<int>(std::ceil(m_text->document()->size().height()));
    if (m_text->height() != height || m_text->minimumHeight() != height)
        m_text->setFixedHeight(height);
}

bool LessonPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_text && event->type() == QEvent::Resize)
        QMetaObject::invokeMethod(this, &LessonPanel::fitText, Qt::QueuedConnection);
    if (event->type() == QEvent::KeyPress &&
        takesKey(*static_cast<QKeyEvent*>(event), watched == m_text))
        return true;
    return QWidget::eventFilter(watched, event);
}

/// Page Down shows what there is more of the step, and then the next one; likewise Page Up. The
/// text is as tall as it must be, so keys that would scroll it scroll the step.
bool LessonPanel::takesKey(const QKeyEvent& event, bool isOfText) {
    const bool hasOthers =
        bool(event.modifiers() & ~Qt::KeyboardModifiers(Qt::KeypadModifier)); // Ctrl and so on
    if (m_player.lesson() == nullptr || hasOthers)
        return false;
    QScrollBar& bar = *m_scroll->verticalScrollBar();
    switch (event.key()) {
    case Qt::Key_PageDown:
        if (bar.value() < bar.maximum())
            bar.triggerAction(QScrollBar::SliderPageStepAdd);
        else
            goOn();
        return true;
    case Qt::Key_PageUp:
        if (bar.value() > bar.minimum())
            bar.triggerAction(QScrollBar::SliderPageStepSub);
        else
            goBack();
        return true;
    case Qt::Key_Down:
    case Qt::Key_Up:
        if (isOfText)
            bar.triggerAction(event.key() == Qt::Key_Down ? QScrollBar::SliderSingleStepAdd
                                                          : QScrollBar::SliderSingleStepSub);
        return isOfText;
    default:
        return false;
    }
}

QWidget* LessonPanel::makeFoot() {
    auto* foot = new QWidget;
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(0, 0, 0, 0);
    m_back = new QPushButton(tr("Back"), foot);
    m_next = new QPushButton(tr("Next"), foot);
    m_back->setToolTip(tr("Back (Page Up)"));
    m_next->setToolTip(tr("Next (Page Down)"));
    m_place = plainLabel(foot);
    m_place->setProperty("tone", "small");
    m_place->setAlignment(Qt::AlignCenter);
    row->addWidget(m_back);
    row->addWidget(m_place, 1);
    row->addWidget(m_next);
    connect(m_back, &QPushButton::clicked, this, &LessonPanel::goBack);
    connect(m_next, &QPushButton::clicked, this, &LessonPanel::goOn);
    return foot;
}

void LessonPanel::begin(const Lesson& lesson) {
    const QString obstacle = m_player.start(lesson);
    if (!obstacle.isEmpty())
        m_player.leave();
    showObstacle(words(lesson.title), obstacle);
}

void LessonPanel::showObstacle(const QString& title, const QString& why) {
    m_obstacle->setText(why.isEmpty() ? QString() : tr("%1: %2").arg(title, why));
    m_obstacle->setVisible(!why.isEmpty());
    if (why.isEmpty())
        return;
    setAccessibleDescription(m_obstacle->text());
    // It stands above all lessons, of which a later one was clicked; once it is laid out.
    QTimer::singleShot(0, m_obstacle, [this] { m_list->ensureWidgetVisible(m_obstacle); });
}

QTextBrowser& LessonPanel::text() { return *m_text; }

QString LessonPanel::reply() const { return m_reply->text(); }

QString LessonPanel::obstacle() const { return m_obstacle->text(); }

void LessonPanel::goBack() { m_player.goTo(m_player.stepIndex() - 1); }

/// Behind the last step the next lesson follows.
void LessonPanel::goOn() {
    if (m_player.stepIndex() + 1 < m_player.stepCount()) {
        m_player.goTo(m_player.stepIndex() + 1);
        return;
    }
    if (const Lesson* next = nextLesson())
        begin(*next);
    else
        m_player.leave();
}

const Lesson* LessonPanel::nextLesson() const {
    const int order = m_player.lesson()->order;
    const auto next = std::ranges::find_if(
        m_catalog.lessons, [&](const Lesson& lesson) { return lesson.order == order + 1; });
    return next == m_catalog.lessons.end() ? nullptr : &*next;
}

void LessonPanel::showPage() {
    const Lesson* lesson = m_player.lesson();
    m_pages->setCurrentIndex(lesson == nullptr ? 0 : 1);
    m_all->setVisible(lesson != nullptr);
    m_title->setText(lesson == nullptr ? tr("Lessons") : words(lesson->title));
    if (lesson == nullptr)
        fillList();
    else
        showStep();
}

void LessonPanel::fillList() {
    setAccessibleDescription({});
    for (std::size_t i = 0; i < m_lessonButtons.size(); ++i) {
        const Lesson& lesson = m_catalog.lessons[i];
        const int done = m_player.doneSteps(lesson);
        const int all = static_cast<int>(lesson.steps.size());
        const QString state = done == all ? tr("Done")
                              : done > 0  ? tr("%1 of %2 steps").arg(done).arg(all)
                                          : tr("About %1 minutes").arg(lesson.minutes);
        const QString note = tr("%1 \u00B7 %2").arg(state, words(lesson.summary));
        m_lessonNotes[i]->setText(note);
        m_lessonButtons[i]->setAccessibleDescription(note);
    }
}

void LessonPanel::showStep() {
    const LessonStep& step = m_player.step();
    m_shownText.clear();
    showText();
    m_text->moveCursor(QTextCursor::Start);
    m_scroll->verticalScrollBar()->setValue(0);
    m_act->setText(menuText(words(step.button)));
    m_act->setVisible(!step.button.empty());
    m_show->setVisible(!step.solution.empty());
    m_back->setEnabled(m_player.stepIndex() > 0);
    const bool isLast = m_player.stepIndex() + 1 == m_player.stepCount();
    m_next->setText(!isLast                   ? tr("Next")
                    : nextLesson() != nullptr ? tr("Next lesson")
                                              : tr("All lessons"));
    showCheck();
    showReply();
    m_place->setText(tr("Step %1 of %2").arg(m_player.stepIndex() + 1).arg(m_player.stepCount()));
}

/// Again whenever a fact in it has changed.
void LessonPanel::showText() {
    if (m_player.lesson() == nullptr)
        return;
    const LessonStep& step = m_player.step();
    const QString text = QStringLiteral("## %1\n\n%2")
                             .arg(words(step.title), words(filledIn(step.text, m_player.facts())));
    if (text == m_shownText)
        return;
    m_shownText = text;
    m_text->showMarkdown(text);
    spaceParagraphs();
    fitText();
}

/// Markdown alone puts paragraphs line to line.
void LessonPanel::spaceParagraphs() {
    QTextDocument& document = *m_text->document();
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        QTextBlockFormat format = block.blockFormat();
        const bool isLast = !block.next().isValid();
        format.setTopMargin(0);
        format.setBottomMargin(isLast ? 0 : m_theme.scaled(block.textList() != nullptr ? 4 : 8));
        format.setLineHeight(kLineHeight, QTextBlockFormat::ProportionalHeight);
        QTextCursor(block).setBlockFormat(format);
    }
}

void LessonPanel::showCheck() {
    for (QAbstractButton* button : m_answers->buttons()) {
        m_answers->removeButton(button);
        delete button;
    }
    const auto& check = m_player.step().check;
    m_question->setVisible(check.has_value());
    m_question->setText(check ? words(filledIn(check->question, m_player.facts())) : QString());
    if (!check)
        return;
    for (std::size_t i = 0; i < check->answers.size(); ++i) {
        auto* choice = new WrappingChoice(this);
        m_answerRows->addWidget(choice);
        m_answers->addButton(choice, static_cast<int>(i));
    }
    if (!m_answers->buttons().isEmpty())
        setTabOrder(m_text, m_answers->buttons().front());
}

void LessonPanel::showReply() {
    if (m_player.lesson() == nullptr)
        return;
    const auto& check = m_player.step().check;
    const LessonVerdict& verdict = m_player.verdict();
    if (check) {
        m_question->setText(words(filledIn(check->question, m_player.facts())));
        for (std::size_t i = 0; i < check->answers.size(); ++i)
            m_answers->button(static_cast<int>(i))
                ->setText(menuText(words(filledIn(check->answers[i].text, m_player.facts()))));
    }
    const QString mark = verdict.isRight ? QStringLiteral("\u2713 ") : QString();
    m_reply->setText(
        unbrokenFigures(verdict.sentence.empty() ? QString() : mark + words(verdict.sentence)));
    m_reply->setVisible(!verdict.sentence.empty());
    setTextColour(*m_reply, verdict.isRight ? m_theme.colours().success : m_theme.colours().muted);
    // A button that is switched off would hand the keyboard focus to some part of the window.
    if (m_player.isBusy() && (m_act->hasFocus() || m_show->hasFocus()))
        setFocus();
    m_act->setEnabled(!m_player.isBusy());
    m_show->setEnabled(!m_player.isBusy() && !verdict.isRight);
    m_next->setProperty("kind", verdict.isRight ? "primary" : "");
    m_next->style()->polish(m_next);
    m_progress->update();
    tellStep();
}

/// To a screen reader, which is at the panel when a step begins.
void LessonPanel::tellStep() {
    const QString place = tr("Step %1 of %2, %3 done")
                              .arg(m_player.stepIndex() + 1)
                              .arg(m_player.stepCount())
                              .arg(m_player.doneSteps(*m_player.lesson()));
    QString told = QStringLiteral("%1. %2.").arg(place, words(m_player.step().title));
    for (const QLabel* said : {m_question, m_reply})
        if (!said->text().isEmpty())
            told += QLatin1Char(' ') + said->text();
    if (told == accessibleDescription())
        return;
    m_progress->setAccessibleName(place);
    setAccessibleDescription(told);
}

void LessonPanel::keyPressEvent(QKeyEvent* event) {
    const bool isLesson = m_player.lesson() != nullptr;
    if (takesKey(*event, true))
        return;
    if (event->key() == Qt::Key_Escape)
        isLesson ? m_player.leave() : emit closeAsked();
    else
        QWidget::keyPressEvent(event);
}

void LessonPanel::restyle() {
    const int side = m_theme.scaled(12);
    setFixedWidth(m_theme.scaled(320));
    for (QWidget* page :
         {m_pages->widget(1),
          m_lessonButtons.empty() ? nullptr : m_lessonButtons.front()->parentWidget()})
        if (page != nullptr) {
            page->layout()->setContentsMargins(side, side, side, side);
            page->layout()->setSpacing(m_theme.scaled(8));
        }
    m_text->document()->setDefaultFont(m_theme.font(TextRole::Conversation));
    m_text->document()->setDocumentMargin(0);
    m_text->document()->setIndentWidth(m_theme.scaled(16));
    m_scroll->widget()->layout()->setSpacing(m_theme.scaled(8));
    spaceParagraphs();
    fitText();
    setGround(*m_pages->widget(1), m_theme.colours().panel);
    showReply();
    update();
}

void LessonPanel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().panel);
    painter.fillRect(width() - 1, 0, 1, height(), m_theme.colours().border);
    if (!hasFocus())
        return;
    painter.setPen(QPen(m_theme.colours().focus, m_theme.scaled(2)));
    painter.drawRect(m_title->parentWidget()->geometry().adjusted(1, 1, -2, -1)); // the head
}

} // namespace ui
