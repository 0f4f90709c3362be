// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/page/phase_bar.h"

#include "ui/shell/widgets/live_label.h"
#include "ui/tuning/tuning_session.h"
#include "ui/views/tune/tune_words.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QProgressBar>
#include <QVBoxLayout>

#include <utility>

namespace ui {

namespace {

constexpr int kBarParts = 1000;
constexpr int kRoomForOneLine = 720; ///< pixels at 100 %

} // namespace

PhaseBar::PhaseBar(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_row(new QHBoxLayout(this)) {
    add(tr("Collect"), 3);
    add(tr("Train"), 3);
    add(tr("Compare"), 2);
    connect(&theme, &Theme::changed, this, &PhaseBar::restyle);
    restyle();
}

void PhaseBar::add(const QString& name, int share) {
    using Fit = LiveLabel::Fit;
    Phase phase{name,
                new LiveLabel(m_theme, TextRole::Small, &Colours::text, Fit::Whole, this),
                new LiveLabel(m_theme, TextRole::Small, &Colours::muted, Fit::Cut, this),
                new QProgressBar(this),
                new QBoxLayout(QBoxLayout::LeftToRight)};
    phase.bar->setRange(0, kBarParts);
    phase.bar->setTextVisible(false);
    phase.head->addWidget(phase.title);
    phase.head->addWidget(phase.words, 1);
    auto* column = new QVBoxLayout;
    column->addLayout(phase.head);
    column->addWidget(phase.bar);
    m_row->addLayout(column, share);
    m_phases.push_back(std::move(phase));
}

void PhaseBar::showSession(const TuningSession& session) {
    const TuningRun& run = session.run();
    const bool hasTrained = run.step.has_value() || run.phase == TuningPhase::Training;
    const bool hasCollected = hasTrained || run.phase == TuningPhase::Over;
    const auto stage = [](bool isDone, bool isNow) {
        return isDone ? Stage::Done : isNow ? Stage::Now : Stage::Ahead;
    };
    showPhase(m_phases[0],
              stage(hasCollected, run.collected || run.selfPrompts),
              hasCollected ? 1.0 : run.collectedPart(),
              collectText(run));
    showPhase(m_phases[1],
              stage(run.phase == TuningPhase::Over, hasTrained),
              run.phase == TuningPhase::Over ? 1.0
              : run.step                     ? run.step->part()
                                             : 0.0,
              trainText(run));
    if (session.choice().changesModel()) {
        showCheck(run);
        return;
    }
    m_phases[2].name = tr("Compare");
    const AdapterComparison& comparison = session.comparison();
    const bool isOwn = session.isComparisonOwn();
    const bool isCompared = isOwn && comparison.state() == ComparisonState::Done;
    showPhase(m_phases[2],
              stage(isCompared, isOwn && comparison.isRunning()),
              isCompared ? 1.0
              : isOwn    ? comparison.prompts().part()
                         : 0.0,
              isOwn ? comparisonText(comparison) : QString());
}

/// Of a copy of the model: whether it is as good.
void PhaseBar::showCheck(const TuningRun& run) {
    const bool isOver = run.phase == TuningPhase::Over;
    const bool isTrained = run.step && run.step->steps > 0 && run.step->step == run.step->steps;
    m_phases[2].name = tr("Check");
    showPhase(m_phases[2],
              isOver      ? Stage::Done
              : isTrained ? Stage::Now
                          : Stage::Ahead,
              isOver ? 1.0 : 0.0,
              run.done && run.done->quality
                  ? (run.done->quality->isKept ? tr("passed") : tr("not passed"))
                  : QString());
}

void PhaseBar::showPhase(Phase& phase, Stage stage, double part, const QString& words) {
    phase.title->setRuns(
        {{stage == Stage::Done ? QStringLiteral("\u2713 ") + phase.name : phase.name,
          true,
          stage == Stage::Now     ? &Colours::accent
          : stage == Stage::Ahead ? &Colours::muted
                                  : &Colours::text}});
    phase.words->setText(words);
    phase.bar->setAccessibleName(tr("Part done: %1").arg(phase.name));
    phase.bar->setValue(static_cast<int>(part * kBarParts));
    if (std::exchange(phase.stage, stage) != stage)
        colourBar(phase);
}

/// What is done is green; what is at work has the accent of every bar.
void PhaseBar::colourBar(const Phase& phase) {
    phase.bar->setStyleSheet(phase.stage == Stage::Done
                                 ? QStringLiteral("QProgressBar::chunk { background: %1; }")
                                       .arg(m_theme.colours().success.name())
                                 : QString());
}

/// Where a line has no room for both, the words stand below the title.
void PhaseBar::arrange() {
    const bool isWide = width() >= m_theme.scaled(kRoomForOneLine);
    for (const Phase& phase : m_phases) {
        phase.head->setDirection(isWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
        phase.head->setSpacing(m_theme.scaled(isWide ? 6 : 1));
        phase.words->setAlignedRight(isWide);
    }
}

void PhaseBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void PhaseBar::restyle() {
    arrange();
    m_row->setContentsMargins(
        m_theme.scaled(12), m_theme.scaled(8), m_theme.scaled(12), m_theme.scaled(10));
    m_row->setSpacing(m_theme.scaled(16));
    for (const Phase& phase : m_phases)
        colourBar(phase);
    update();
}

void PhaseBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), m_theme.colours().border);
}

} // namespace ui
