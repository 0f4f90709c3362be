// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/lessons/lesson.h"

#include <QObject>
#include <QString>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

class QSettings;

namespace ui {

/// What a lesson does in the window. Thread: UI.
class LessonHand {
public:
    LessonHand() = default;
    LessonHand(const LessonHand&) = delete;
    LessonHand& operator=(const LessonHand&) = delete;
    virtual ~LessonHand() = default;

    /// Why the lesson cannot begin with this model, as a sentence with what to do; empty if it can.
    /// A model that the lesson loads by itself is no obstacle.
    virtual QString obstacle(const engine::Lesson& lesson) const = 0;

    /// Takes back what earlier lessons have chosen, so that this one begins from its own state.
    virtual void begin() = 0;

    /// Takes back what the lesson has chosen: from now on the window is the user's again.
    virtual void end() = 0;

    /// The next action need not wait for what the last one was to bring: it may never come.
    virtual void forget() = 0;

    /// Whether the next action can be done: a model is loaded, and no answer, search or comparison
    /// runs.
    virtual bool isReady() const = 0;

    virtual void act(const engine::Lesson& lesson, const engine::LessonAction& action) = 0;

    /// Brings a view, by its id, to the front.
    virtual void show(const std::string& view) = 0;

    virtual engine::LessonFacts facts() const = 0;
};

/// A lesson on its way: where the learner is, what was answered, what is still to be done for the
/// learner. Which steps are done is kept between starts. Thread: UI.
class LessonPlayer : public QObject {
    Q_OBJECT

public:
    /// Both outlive it.
    LessonPlayer(LessonHand& hand, QSettings& settings, QObject* parent = nullptr);

    /// Begins, or goes on where the learner was: at the last step before it that makes an answer or
    /// a comparison, so that what the later ones speak of is made anew. A lesson that cannot begin
    /// is not begun: the sentence says why, else it is empty.
    QString start(engine::Lesson lesson);

    void leave();

    /// Null while none runs.
    const engine::Lesson* lesson() const { return m_lesson ? &*m_lesson : nullptr; }

    int stepIndex() const { return m_step; }

    const engine::LessonStep& step() const {
        return m_lesson->steps[static_cast<std::size_t>(m_step)];
    }

    int stepCount() const { return m_lesson ? static_cast<int>(m_lesson->steps.size()) : 0; }

    /// Any step may be gone to; what a step prepares is done when it is reached.
    void goTo(int step);

    /// What the step's button does.
    void press();

    /// Does what makes the conditions of the check hold.
    void showSolution();

    /// Chooses an answer, from 0.
    void answer(int index);

    std::optional<std::size_t> chosen() const { return m_chosen; }

    /// How the check of this step stands by now; right once it was right, however the facts change.
    const engine::LessonVerdict& verdict() const { return m_verdict; }

    bool isDone(int step) const { return m_done.contains(step); }

    /// Of a lesson that need not run.
    int doneSteps(const engine::Lesson& lesson) const;

    /// Whether something is still being done for the learner.
    bool isBusy() const { return m_isActing || !m_todo.empty(); }

    /// Whether all that the step prepares is done: from then on its check is looked at.
    bool isPrepared() const { return m_isPrepared; }

    const engine::LessonFacts& facts() const { return m_facts; }

    /// Looks at the facts and goes on with what is to be done. Call it with every tick.
    void follow();

signals:
    /// A lesson began or ended, or another step is shown.
    void moved();

    /// The facts, the verdict or what is being done changed.
    void changed();

    /// The model that the lesson has loaded lacks something: the lesson of this title has ended.
    void refused(const QString& title, const QString& why);

private:
    void enter(int step);
    void refuse(const QString& why);
    void judgeStep();
    void lookAtFacts();
    QString key(const engine::Lesson& lesson) const;
    std::set<int> keptSteps(const engine::Lesson& lesson) const;

    LessonHand& m_hand;
    QSettings& m_settings;
    std::optional<engine::Lesson> m_lesson;
    int m_step = 0;
    std::set<int> m_done;
    std::optional<std::size_t> m_chosen;
    engine::LessonVerdict m_verdict;
    engine::LessonFacts m_facts;
    /// What was known when the lesson began, by the first part of the names: no deed of the
    /// learner.
    std::map<std::string, engine::LessonFacts> m_old;
    bool m_isPrepared = false;
    bool m_awaitsModel = false; ///< that of the lesson, which was not looked at yet
    bool m_isActing = false;    ///< the last action begun is not known to be done
    std::deque<engine::LessonAction> m_todo;
};

} // namespace ui
