// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/slow_motion_view.h"

#include "ui/origin/token_mark.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/learn/slow_motion/controls/answer_strip.h"
#include "ui/views/learn/slow_motion/controls/walk_transport.h"
#include "ui/views/learn/slow_motion/pictures/walk_mask.h"
#include "ui/views/learn/slow_motion/walk_texts.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QToolButton>

#include <algorithm>

// Which round is shown and how the walk goes on. The widgets are built in slow_motion_page.cpp.

namespace ui {

using namespace engine;

static_assert(RoundLog::kFirstHidden == kFirstHiddenPrompt);

namespace {

ViewInfo slowMotionInfo() {
    return {QStringLiteral("slow_motion"),
            SlowMotionView::tr("Slow motion"),
            SlowMotionView::tr(
                "One round of an answer, taken apart. First tokens are guessed cheaply (draft, "
                "widen), then the full model checks all guesses in one pass (linearise, verify), "
                "and what it would have written itself is kept (accept). Some rounds also try "
                "another set of layers to skip (search). All numbers are those of this round "
                "(paper: figures 3 and 5)."),
            Topic::Answers | Topic::Selection | Topic::Model,
            EngineBridge::kFiguresMs};
}

/// The round that shows most: drafted and widened, kept in part, short enough to be taken in, and
/// made when the time of a plain step was known.
int bestRound(const Answer& answer, const RoundLog& grounds) {
    constexpr std::size_t kMostKept = 4;
    constexpr std::size_t kMostNodes = 20;
    int best = 0;
    std::size_t most = 0;
    for (std::size_t i = 0; i < answer.steps.size(); ++i) {
        const StepFinished& step = answer.steps[i];
        if (step.draft.empty())
            continue;
        const RoundGround* ground = grounds.find(answer.promptId, step.step);
        std::size_t worth = 1 + 2 * std::min(step.path.size(), kMostKept);
        worth += step.path.size() < step.draft.size() ? 2 : 0;
        worth += step.draft.size() > step.confidences.size() ? 1 : 0;
        worth += step.draft.size() <= kMostNodes ? 2 : 0;
        worth += ground != nullptr && ground->plainMs > 0.0 ? 3 : 0;
        if (worth > most) {
            most = worth;
            best = static_cast<int>(i);
        }
    }
    return best;
}

} // namespace

SlowMotionView::SlowMotionView(const ViewContext& context, QWidget* parent)
    : View(context, slowMotionInfo(), parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Slow motion"));
    build();
    connectTransport();
    connect(&context.bridge, &EngineBridge::tickFinished, this, &SlowMotionView::advance);
    connect(&context.theme, &Theme::changed, this, &SlowMotionView::restyle);
    restyle();
    refreshView({});
}

void SlowMotionView::connectTransport() {
    const auto on = [this](auto signal, auto act) { connect(m_transport, signal, this, act); };
    on(&WalkTransport::firstAsked, [this] { goTo(0); });
    on(&WalkTransport::backAsked, [this] { goBack(); });
    on(&WalkTransport::playAsked, [this] { setPlaying(!m_isPlaying); });
    on(&WalkTransport::forwardAsked, [this] { goOn(); });
    on(&WalkTransport::lastAsked, [this] {
        if (m_scene)
            goTo(static_cast<int>(m_scene->walk.stops.size()) - 1);
    });
    on(&WalkTransport::stopAsked, [this](int stop) { goTo(stop); });
}

const Answer* SlowMotionView::answer() const { return store().answers().find(m_promptId); }

void SlowMotionView::refreshView(Topics) {
    listAnswers();
    followSelection();
    const Answer* shown = answer();
    const bool isGone =
        shown == nullptr || m_round < 0 || m_round >= static_cast<int>(shown->steps.size());
    const Answer* newest = store().answers().latestShown();
    const bool isOlder = !m_isChosen && newest != nullptr && newest->promptId != m_promptId;
    if (isGone || isOlder)
        chooseFirstRound();
    shown = answer();
    if (shown != nullptr && m_round >= 0)
        showRoundChoice(*shown);
}

/// A token that is chosen anywhere brings its round here; the same token does so only once.
void SlowMotionView::followSelection() {
    const auto token = selection().token();
    if (token == m_followed)
        return;
    m_followed = token;
    if (!token)
        return;
    const Answer* of = store().answers().find(token->promptId);
    const auto index = static_cast<std::size_t>(token->index);
    if (of == nullptr || token->index < 0 || index >= of->tokens.size())
        return;
    const auto step = std::ranges::find(of->steps, of->tokens[index].step, &StepFinished::step);
    if (step != of->steps.end())
        showRound(of->promptId, static_cast<int>(step - of->steps.begin()));
}

void SlowMotionView::chooseFirstRound() {
    m_isChosen = false;
    if (const Answer* newest = store().answers().latestShown()) {
        m_promptId = newest->promptId;
        m_round = bestRound(*newest, store().rounds());
        makeScene(0);
        return;
    }
    m_promptId = 0;
    m_round = -1;
    m_scene.reset();
    showScene();
}

void SlowMotionView::showRound(std::uint64_t promptId, int round) {
    const Answer* of = store().answers().find(promptId);
    if (of == nullptr || round < 0 || round >= static_cast<int>(of->steps.size()))
        return;
    m_isChosen = true;
    m_promptId = promptId;
    m_round = round;
    makeScene(0);
    showRoundChoice(*of);
}

void SlowMotionView::goRound(int direction) { showRound(m_promptId, m_round + direction); }

void SlowMotionView::makeScene(int stop) {
    const Answer* of = answer();
    if (of == nullptr)
        return;
    const StepFinished& step = of->steps[static_cast<std::size_t>(m_round)];
    const RoundGround* ground = store().rounds().find(m_promptId, step.step);
    m_scene = WalkScene{walkThrough(step, ground != nullptr ? *ground : RoundGround()), stop, 1.0};
    m_mask->chooseRow(m_mask->hasFocus() ? 0 : -1);
    m_restMs = 0.0;
    showScene();
    revealStop();
}

void SlowMotionView::goTo(int stop) {
    setPlaying(false);
    startStop(stop, false);
}

void SlowMotionView::goBack() {
    if (m_scene)
        goTo(m_scene->stop - 1);
}

void SlowMotionView::goOn() {
    if (!m_scene)
        return;
    setPlaying(false);
    startStop(m_scene->stop + 1, true);
}

void SlowMotionView::chooseRow(int row) { m_mask->chooseRow(row); }

void SlowMotionView::tellFacts(LessonFacts& facts) const {
    if (!m_scene)
        return;
    const RoundWalk& walk = m_scene->walk;
    const auto tell = [&](const char* name, int value) {
        facts.insert_or_assign(name, static_cast<double>(value));
    };
    facts.insert_or_assign("round.stop", std::string(roundStopName(m_scene->current())));
    tell("round.first_choices", static_cast<int>(walk.drafting.spine.size()));
    tell("round.candidates", walk.candidates());
    tell("round.rows", walk.verifying.rows);
    tell("round.accepted", walk.accepting.accepted);
    tell("round.written", static_cast<int>(walk.accepting.tokens.size()));
    tell("round.row", m_mask->chosenRow());
}

void SlowMotionView::startStop(int stop, bool isMoving) {
    if (!m_scene || stop < 0 || stop >= static_cast<int>(m_scene->walk.stops.size()))
        return;
    m_scene->stop = stop;
    m_scene->part = isMoving && !theme().reducesMotion() ? 0.0 : 1.0;
    m_restMs = 0.0;
    showScene();
    revealStop();
}

/// From the last stop it begins again.
void SlowMotionView::setPlaying(bool isPlaying) {
    if (isPlaying == m_isPlaying || !m_scene)
        return;
    m_isPlaying = isPlaying;
    const bool isAtEnd = m_scene->stop + 1 == static_cast<int>(m_scene->walk.stops.size());
    if (isPlaying && isAtEnd && m_scene->part >= 1.0)
        startStop(0, true);
    showScene();
}

/// With the bridge's ticks, so that nothing runs on a timer of its own, and nothing while hidden. A
/// frozen view keeps its round, through which the user goes on.
void SlowMotionView::advance() {
    const bool isSeen = isShowing() || (isFrozen() && isVisible());
    if (!m_scene || !isSeen)
        return;
    const double ms = EngineBridge::kTickMs * m_transport->speed();
    if (m_scene->part < 1.0) {
        m_scene->part = std::min(1.0, m_scene->part + ms / kMoveMs);
        showScene();
        return;
    }
    if (!m_isPlaying)
        return;
    m_restMs += ms;
    if (m_restMs < (theme().reducesMotion() ? kRestWithoutMotionMs : kRestMs))
        return;
    if (m_scene->stop + 1 < static_cast<int>(m_scene->walk.stops.size()))
        startStop(m_scene->stop + 1, true);
    else
        setPlaying(false);
}

QString SlowMotionView::sentence() const {
    return m_scene ? stopSentence(m_scene->walk, m_scene->current()) : QString();
}

FigureTable SlowMotionView::table() const {
    return m_scene ? stopTable(m_scene->walk, m_scene->current()) : FigureTable();
}

bool SlowMotionView::takesKey(const QKeyEvent& event) {
    if (!m_scene || (event.modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) != 0)
        return false;
    const auto stops = static_cast<int>(m_scene->walk.stops.size());
    switch (event.key()) {
    case Qt::Key_Space:
        goOn();
        return true;
    case Qt::Key_Backspace:
        goBack();
        return true;
    case Qt::Key_Home:
        goTo(0);
        return true;
    case Qt::Key_End:
        goTo(stops - 1);
        return true;
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        goRound(event.key() == Qt::Key_PageUp ? -1 : 1);
        return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
        m_scroll->verticalScrollBar()->triggerAction(event.key() == Qt::Key_Up
                                                         ? QScrollBar::SliderSingleStepSub
                                                         : QScrollBar::SliderSingleStepAdd);
        return true;
    case Qt::Key_P:
        setPlaying(!m_isPlaying);
        return true;
    case Qt::Key_Plus:
    case Qt::Key_Minus:
        m_transport->changeSpeed(event.key() == Qt::Key_Plus ? 1 : -1);
        return true;
    default:
        break;
    }
    if (event.key() < Qt::Key_1 || event.key() >= Qt::Key_1 + stops)
        return false;
    goTo(event.key() - Qt::Key_1);
    return true;
}

void SlowMotionView::keyPressEvent(QKeyEvent* event) {
    if (!takesKey(*event))
        View::keyPressEvent(event);
}

/// The keys are the same on every button and on the mask. Return presses the button that has the
/// focus, Up and Down choose a row of the mask.
bool SlowMotionView::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress)
        return View::eventFilter(watched, event);
    const auto& key = *static_cast<QKeyEvent*>(event);
    auto* button = qobject_cast<QToolButton*>(watched);
    if (button != nullptr && (key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter)) {
        button->click();
        return true;
    }
    const bool isOfMask =
        watched == m_mask && (key.key() == Qt::Key_Up || key.key() == Qt::Key_Down);
    return (!isOfMask && takesKey(key)) || View::eventFilter(watched, event);
}

} // namespace ui
