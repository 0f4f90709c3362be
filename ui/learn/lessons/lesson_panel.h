// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/learn/lessons/lesson_catalog.h"
#include "ui/learn/lessons/lesson_player.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

class QButtonGroup;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTextBrowser;
class QToolButton;
class QVBoxLayout;

namespace ui {

class ColumnScroll;
class FormulaBrowser;
class LessonProgress;

/// The lessons, and the one that runs: its text, what to do, the question and the answer to the
/// learner. It stands beside every workspace, because a lesson leads through several. Thread: UI.
class LessonPanel : public QWidget {
    Q_OBJECT

public:
    /// All outlive it.
    LessonPanel(const Theme& theme,
                const LessonCatalog& catalog,
                LessonPlayer& player,
                QWidget* parent = nullptr);

    /// Begins a lesson; one that cannot begin is shown in the list, with the reason.
    void begin(const engine::Lesson& lesson);

    /// The buttons of the list of lessons, in their order.
    const std::vector<QPushButton*>& lessonButtons() const { return m_lessonButtons; }

    /// How far each is, and what it is about.
    const std::vector<QLabel*>& lessonNotes() const { return m_lessonNotes; }

    QTextBrowser& text();

    QPushButton& actButton() { return *m_act; }

    QPushButton& showButton() { return *m_show; }

    QPushButton& nextButton() { return *m_next; }

    /// The radio buttons of the present question.
    QButtonGroup& answers() { return *m_answers; }

    /// What the lesson answers to the learner.
    QString reply() const;

    /// Why the lesson that was asked for cannot begin; empty if it can.
    QString obstacle() const;

signals:
    /// The user closes the panel.
    void closeAsked();

    /// The user wants to open a lesson of his own.
    void fileAsked();

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeHead();
    QWidget* makeList();
    QWidget* makeLesson();
    QWidget* makeStep();
    QWidget* makeFoot();
    void showObstacle(const QString& title, const QString& why);
    void showPage();
    void showStep();
    void showText();
    void spaceParagraphs();
    void fitText();
    void showCheck();
    void showReply();
    void tellStep();
    bool takesKey(const QKeyEvent& event, bool isOfText);
    void goBack();
    void fillList();
    void goOn();
    const engine::Lesson* nextLesson() const; ///< null behind the last one
    void restyle();

    const Theme& m_theme;
    const LessonCatalog& m_catalog;
    LessonPlayer& m_player;
    QLabel* m_title;
    QToolButton* m_all;
    QStackedWidget* m_pages;
    QLabel* m_obstacle = nullptr;
    std::vector<QPushButton*> m_lessonButtons;
    std::vector<QLabel*> m_lessonNotes;
    LessonProgress* m_progress = nullptr;
    ColumnScroll* m_list = nullptr;   ///< holds the lessons
    ColumnScroll* m_scroll = nullptr; ///< holds all of a step but the foot
    FormulaBrowser* m_text = nullptr;
    QPushButton* m_act = nullptr;
    QLabel* m_question = nullptr;
    QVBoxLayout* m_answerRows = nullptr;
    QButtonGroup* m_answers = nullptr;
    QLabel* m_reply = nullptr;
    QPushButton* m_show = nullptr;
    QLabel* m_place = nullptr;
    QPushButton* m_back = nullptr;
    QPushButton* m_next = nullptr;
    QString m_shownText;
};

} // namespace ui
