// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/replay/replay_transport.h"

#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/shell/widgets/transport_button.h"
#include "ui/views/replay/answer_bars.h"

#include <QAbstractButton>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>

#include <algorithm>

namespace ui {

using Sign = TransportButton::Sign;

ReplayTransport::ReplayTransport(const Theme& theme, EngineBridge& bridge, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_playback(*bridge.playback())
    , m_bars(new AnswerBars(theme, m_playback, this))
    , m_time(new LiveLabel(theme, TextRole::Figure, &Colours::muted, LiveLabel::Fit::Whole, this))
    , m_speeds(new SegmentedControl(theme, tr("Speed of the replay"), this)) {
    setObjectName(QStringLiteral("replay_transport"));
    setAccessibleName(tr("Replay"));
    setFocusPolicy(Qt::StrongFocus);
    auto* row = new QHBoxLayout(this);
    const auto addButton = [&](Sign sign, const QString& name, auto act) {
        auto* button = new TransportButton(theme, sign, name, this);
        button->installEventFilter(this);
        connect(button, &QToolButton::clicked, this, [this, act] {
            act();
            refresh();
        });
        row->addWidget(button);
        return button;
    };
    addButton(Sign::First, tr("Go to the beginning"), [this] { m_playback.seek(0.0); });
    addButton(Sign::Previous, tr("Previous round"), [this] { m_playback.seekRound(-1); });
    m_play = addButton(Sign::Pause, tr("Pause"), [this] { togglePlaying(); });
    m_play->setPrimary(true);
    addButton(Sign::Next, tr("Next round"), [this] { m_playback.seekRound(1); });
    addButton(Sign::Last, tr("Go to the end"), [this] { m_playback.seek(m_playback.length()); });
    row->addWidget(m_bars, 1);
    row->addWidget(m_time);
    row->addWidget(m_speeds);
    QStringList names;
    for (const double speed : kSpeeds)
        names << QStringLiteral("%1\u00D7").arg(speed);
    m_speeds->setSegments(names);
    for (int i = 0; i < m_speeds->count(); ++i)
        m_speeds->segment(i)->setToolTip(
            tr("%1 times the recorded speed").arg(kSpeeds.at(static_cast<std::size_t>(i))));
    connect(m_speeds, &SegmentedControl::chosen, this, [this](int index) {
        m_playback.setSpeed(kSpeeds.at(static_cast<std::size_t>(index)));
    });
    connect(m_bars, &AnswerBars::sought, this, [this] {
        setFocus(Qt::MouseFocusReason);
        refresh();
    });
    connect(&bridge, &EngineBridge::tickFinished, this, &ReplayTransport::refresh);
    connect(&theme, &Theme::changed, this, &ReplayTransport::restyle);
    restyle();
    refresh();
}

QString ReplayTransport::timeText() const { return m_time->text(); }

void ReplayTransport::togglePlaying() {
    if (m_playback.isPlaying())
        m_playback.pause();
    else
        m_playback.play();
}

void ReplayTransport::moveBy(double seconds) { m_playback.seek(m_playback.position() + seconds); }

void ReplayTransport::refresh() {
    const bool isPlaying = m_playback.isPlaying();
    m_play->setSign(isPlaying ? Sign::Pause : Sign::Play, isPlaying ? tr("Pause") : tr("Play"));
    m_bars->refresh();
    const double position = std::min(m_playback.position(), m_playback.length());
    m_time->setRuns({{clockText(position, 1), true},
                     {QStringLiteral(" / ") + clockText(m_playback.length(), 1)}});
    const auto speed = std::ranges::find(kSpeeds, m_playback.speed());
    m_speeds->setCurrentIndex(speed == kSpeeds.end() ? -1
                                                     : static_cast<int>(speed - kSpeeds.begin()));
    setAccessibleDescription(
        tr("%1 of %2").arg(clockText(position, 0), clockText(m_playback.length(), 0)));
}

bool ReplayTransport::takesKey(const QKeyEvent& event) {
    const bool isSecond = event.modifiers() & Qt::ShiftModifier;
    switch (event.key()) {
    case Qt::Key_Space:
        togglePlaying();
        break;
    case Qt::Key_Left:
        isSecond ? moveBy(-kSecondsOfShift) : m_playback.seekRound(-1);
        break;
    case Qt::Key_Right:
        isSecond ? moveBy(kSecondsOfShift) : m_playback.seekRound(1);
        break;
    case Qt::Key_Home:
        m_playback.seek(0.0);
        break;
    case Qt::Key_End:
        m_playback.seek(m_playback.length());
        break;
    default:
        return false;
    }
    refresh();
    return true;
}

void ReplayTransport::keyPressEvent(QKeyEvent* event) {
    if (!takesKey(*event))
        QWidget::keyPressEvent(event);
}

/// The keys are the same on every button; Return presses the one that has the focus.
bool ReplayTransport::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const auto& key = *static_cast<QKeyEvent*>(event);
    auto* button = qobject_cast<QToolButton*>(watched);
    if (button != nullptr && (key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter)) {
        button->click();
        return true;
    }
    return takesKey(key) || QWidget::eventFilter(watched, event);
}

void ReplayTransport::restyle() {
    const int inset = m_theme.scaled(12);
    setFixedHeight(m_theme.scaled(48));
    layout()->setContentsMargins(inset, 1, inset, 0);
    layout()->setSpacing(m_theme.scaled(8));
    update();
}

void ReplayTransport::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.fillRect(rect(), colours.panel);
    painter.fillRect(QRect(0, 0, width(), 1), colours.border);
    if (!hasFocus())
        return;
    painter.setPen(QPen(colours.focus, 2));
    painter.drawRect(rect().adjusted(2, 3, -3, -3));
}

} // namespace ui
