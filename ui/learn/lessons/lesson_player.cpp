// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/lesson_player.h"

#include <QSettings>
#include <QVariant>

#include <algorithm>
#include <utility>

namespace ui {

using namespace engine;

namespace {

/// "answer" for "answer.tokens".
std::string firstPart(const std::string& fact) { return fact.substr(0, fact.find('.')); }

std::map<std::string, LessonFacts> byFirstPart(const LessonFacts& facts) {
    std::map<std::string, LessonFacts> parts;
    for (const auto& [name, fact] : facts)
        parts[firstPart(name)].insert_or_assign(name, fact);
    return parts;
}

/// Whether what the step speaks of is made in it: an answer, or a comparison with a decoder of its
/// own. A search is none: it needs a question that was asked.
bool standsAlone(const LessonStep& step) {
    std::vector<LessonAction> all = step.prepare;
    all.insert(all.end(), step.actions.begin(), step.actions.end());
    const bool choosesDecoder = std::ranges::any_of(
        all, [](const LessonAction& action) { return !action.decoder.empty(); });
    return std::ranges::any_of(all, [&](const LessonAction& action) {
        return !action.ask.empty() || (choosesDecoder && !action.compares.empty());
    });
}

} // namespace

LessonPlayer::LessonPlayer(LessonHand& hand, QSettings& settings, QObject* parent)
    : QObject(parent)
    , m_hand(hand)
    , m_settings(settings) {}

QString LessonPlayer::key(const Lesson& lesson) const {
    return QStringLiteral("lessons/") + QString::fromStdString(lesson.name);
}

std::set<int> LessonPlayer::keptSteps(const Lesson& lesson) const {
    std::set<int> steps;
    for (const QVariant& step : m_settings.value(key(lesson)).toList()) {
        bool isNumber = false;
        const int index = step.toInt(&isNumber);
        if (isNumber && index >= 0 && index < static_cast<int>(lesson.steps.size()))
            steps.insert(index);
    }
    return steps;
}

int LessonPlayer::doneSteps(const Lesson& lesson) const {
    return static_cast<int>(keptSteps(lesson).size());
}

QString LessonPlayer::start(Lesson lesson) {
    if (QString obstacle = m_hand.obstacle(lesson); !obstacle.isEmpty())
        return obstacle;
    m_lesson = std::move(lesson);
    m_done = keptSteps(*m_lesson);
    m_old = byFirstPart(m_hand.facts());
    m_old.erase("model");
    m_hand.begin();
    int first = 0;
    while (first + 1 < stepCount() && isDone(first))
        ++first;
    while (first > 0 && !standsAlone(m_lesson->steps[static_cast<std::size_t>(first)]))
        --first;
    const bool isOver = static_cast<int>(m_done.size()) == stepCount();
    enter(isOver ? 0 : first);
    return {};
}

void LessonPlayer::leave() {
    if (m_lesson)
        m_hand.end();
    m_todo.clear();
    m_lesson.reset();
    emit moved();
}

void LessonPlayer::goTo(int step) {
    if (step >= 0 && step < stepCount())
        enter(step);
}

void LessonPlayer::enter(int step) {
    m_step = step;
    m_chosen.reset();
    m_verdict = {};
    m_isPrepared = false;
    m_isActing = false;
    m_todo.clear();
    m_hand.forget();
    m_awaitsModel = m_lesson->needs.model != "any";
    if (m_awaitsModel)
        m_todo.push_back({.model = m_lesson->needs.model});
    const LessonStep& entered = this->step();
    m_todo.insert(m_todo.end(), entered.prepare.begin(), entered.prepare.end());
    m_hand.show(entered.view);
    emit moved();
    follow();
}

void LessonPlayer::refuse(const QString& why) {
    const QString title = QString::fromStdString(m_lesson->title);
    leave();
    emit refused(title, why);
}

void LessonPlayer::press() {
    if (m_lesson)
        m_todo.insert(m_todo.end(), step().actions.begin(), step().actions.end());
    follow();
    emit changed(); // busy from now on, whatever else is the same
}

void LessonPlayer::showSolution() {
    if (m_lesson)
        m_todo.insert(m_todo.end(), step().solution.begin(), step().solution.end());
    follow();
    emit changed();
}

void LessonPlayer::answer(int index) {
    if (!m_lesson || !step().check || index < 0 ||
        index >= static_cast<int>(step().check->answers.size()))
        return;
    m_chosen = static_cast<std::size_t>(index);
    judgeStep();
    emit changed();
}

void LessonPlayer::judgeStep() {
    const auto& check = step().check;
    if (check && check->answers.empty() && m_verdict.isRight) {
        // Done is done, whatever is tried afterwards; but its numbers are those of now.
        if (LessonVerdict now = judge(*check, m_chosen, m_facts); now.isRight)
            m_verdict = std::move(now);
        return;
    }
    if (check && check->answers.empty() && !m_isPrepared)
        return;
    m_verdict = check ? judge(*check, m_chosen, m_facts) : LessonVerdict{true, {}};
    if (!m_verdict.isRight || !m_done.insert(m_step).second)
        return;
    QVariantList kept;
    for (const int done : m_done)
        kept.append(done);
    m_settings.setValue(key(*m_lesson), kept);
}

void LessonPlayer::lookAtFacts() {
    m_facts = m_hand.facts();
    auto parts = byFirstPart(m_facts);
    std::erase_if(m_old, [&](const auto& old) { return parts[old.first] != old.second; });
    std::erase_if(m_facts, [&](const auto& fact) { return m_old.contains(firstPart(fact.first)); });
}

void LessonPlayer::follow() {
    if (!m_lesson)
        return;
    const bool wasBusy = isBusy();
    if (isBusy() && m_hand.isReady()) {
        // Only now the model can tell whether it has all that the lesson uses.
        if (m_isActing && std::exchange(m_awaitsModel, false))
            if (const QString why = m_hand.obstacle(*m_lesson); !why.isEmpty())
                return refuse(why);
        m_isActing = !m_todo.empty();
        if (m_isActing) {
            const LessonAction action = m_todo.front();
            m_todo.pop_front();
            m_hand.act(*m_lesson, action);
        }
    }
    if (!isBusy() && !m_isPrepared)
        m_isPrepared = m_hand.isReady();
    const LessonFacts factsBefore = m_facts;
    lookAtFacts();
    const bool isNew = m_facts != factsBefore;
    const LessonVerdict before = m_verdict;
    if (!m_chosen || isNew) // a reply has the numbers of now, as the question has
        judgeStep();
    if (isNew || wasBusy != isBusy() || before.sentence != m_verdict.sentence ||
        before.isRight != m_verdict.isRight)
        emit changed();
}

} // namespace ui
