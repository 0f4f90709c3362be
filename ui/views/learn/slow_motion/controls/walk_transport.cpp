// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/controls/walk_transport.h"

#include "ui/shell/widgets/live_label.h"
#include "ui/shell/widgets/transport_button.h"
#include "ui/views/learn/slow_motion/controls/stop_caret.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPainter>
#include <QSlider>

#include <algorithm>

namespace ui {

using Sign = TransportButton::Sign;

namespace {

constexpr int kHeight = 60;       ///< pixels at 100 %
constexpr int kLargeHeight = 112; ///< the same, in front of an audience

} // namespace

WalkTransport::WalkTransport(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_grid(new QGridLayout(this))
    , m_buttons(new QHBoxLayout)
    , m_caret(new StopCaret(theme, this))
    , m_speed(new QSlider(Qt::Horizontal, this))
    , m_speedText(
          new LiveLabel(theme, TextRole::Figure, &Colours::text, LiveLabel::Fit::Whole, this)) {
    setAccessibleName(tr("Slow motion"));
    const auto add = [&](Sign sign, const QString& name, auto signal) {
        auto* button = new TransportButton(theme, sign, name, this);
        connect(button, &QToolButton::clicked, this, signal);
        button->setGrowing(true);
        m_buttons->addWidget(button);
        return button;
    };
    add(Sign::First, tr("First stop (Home)"), &WalkTransport::firstAsked);
    add(Sign::Previous, tr("Back (Backspace)"), &WalkTransport::backAsked);
    m_play = add(Sign::Play, tr("Play (P)"), &WalkTransport::playAsked);
    add(Sign::Next, tr("Next stop (Space)"), &WalkTransport::forwardAsked)->setPrimary(true);
    add(Sign::Last, tr("Last stop (End)"), &WalkTransport::lastAsked);
    m_grid->addLayout(m_buttons, 1, 0);
    m_grid->addWidget(m_speed, 1, 2);
    m_grid->addWidget(m_speedText, 1, 3);
    m_grid->setColumnStretch(1, 1);
    m_speed->setAccessibleName(tr("Speed of slow motion"));
    m_speed->setToolTip(tr("Speed (\u2212 and +)"));
    m_speed->setRange(0, static_cast<int>(kSpeeds.size()) - 1);
    m_speed->setPageStep(1);
    m_speed->setValue(3);
    connect(m_speed, &QSlider::valueChanged, this, &WalkTransport::showSpeed);
    connect(m_caret, &StopCaret::asked, this, &WalkTransport::stopAsked);
    connect(&theme, &Theme::changed, this, &WalkTransport::restyle);
    restyle();
    showSpeed();
}

void WalkTransport::show(const QStringList& stops, int current, bool isPlaying) {
    m_caret->show(stops, current);
    m_play->setSign(isPlaying ? Sign::Pause : Sign::Play,
                    isPlaying ? tr("Pause (P)") : tr("Play (P)"));
}

double WalkTransport::speed() const {
    return kSpeeds.at(static_cast<std::size_t>(m_speed->value()));
}

void WalkTransport::changeSpeed(int direction) { m_speed->setValue(m_speed->value() + direction); }

void WalkTransport::showSpeed() { m_speedText->setText(QStringLiteral("%1\u00D7").arg(speed())); }

/// In front of an audience, where everything is larger, the stops stand above the buttons.
void WalkTransport::restyle() {
    const bool isLarge = m_theme.isForAudience();
    setFixedHeight(m_theme.scaled(isLarge ? kLargeHeight : kHeight));
    m_grid->removeWidget(m_caret);
    if (isLarge)
        m_grid->addWidget(m_caret, 0, 0, 1, 4);
    else
        m_grid->addWidget(m_caret, 1, 1);
    m_grid->setContentsMargins(m_theme.scaled(12), 1, m_theme.scaled(12), 0);
    m_grid->setSpacing(m_theme.scaled(6));
    m_buttons->setSpacing(m_theme.scaled(6));
    m_speed->setFixedWidth(m_theme.scaled(72));
    update();
}

void WalkTransport::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().panel);
    painter.fillRect(0, 0, width(), 1, m_theme.colours().border);
}

} // namespace ui
