// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/verdict_band.h"

#include "ui/icons/icons.h"
#include "ui/shell/figure_text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>

namespace ui {

namespace {

QColor edgeOf(engine::VerdictKind kind, const Colours& colours) {
    switch (kind) {
    case engine::VerdictKind::Gain:
        return colours.success;
    case engine::VerdictKind::Finding:
        return colours.accent;
    case engine::VerdictKind::NoGain:
    case engine::VerdictKind::Refused:
        break;
    }
    return colours.warning;
}

} // namespace

VerdictBand::VerdictBand(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_icon(new QLabel(this))
    , m_words(new QLabel(this)) {
    m_words->setWordWrap(true);
    m_words->setTextFormat(Qt::RichText);
    m_words->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_words->setFocusPolicy(Qt::TabFocus);
    auto* row = new QHBoxLayout(this);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addWidget(m_words, 1);
    connect(&theme, &Theme::changed, this, &VerdictBand::restyle);
    restyle();
}

QString VerdictBand::text() const {
    return QString::fromStdString(
        m_verdict.cause.empty() ? m_verdict.headline : m_verdict.headline + ' ' + m_verdict.cause);
}

void VerdictBand::setVerdict(const engine::ExperimentVerdict& verdict) {
    m_verdict = verdict;
    restyle();
}

void VerdictBand::restyle() {
    const bool isGain = m_verdict.kind == engine::VerdictKind::Gain;
    m_icon->setPixmap(iconPixmap(isGain ? IconName::Check : IconName::Info,
                                 edgeOf(m_verdict.kind, m_theme.colours()),
                                 m_theme.scaled(16),
                                 devicePixelRatioF()));
    m_words->setFont(m_theme.font(TextRole::Interface));
    const auto shown = [](const std::string& words) {
        return unbrokenFigures(QString::fromStdString(words)).toHtmlEscaped();
    };
    m_words->setText(
        QStringLiteral("<b>%1</b> %2").arg(shown(m_verdict.headline), shown(m_verdict.cause)));
    m_words->setAccessibleName(text().isEmpty() ? tr("Finding") : text());
    layout()->setContentsMargins(
        m_theme.scaled(14), m_theme.scaled(8), m_theme.scaled(12), m_theme.scaled(8));
    layout()->setSpacing(m_theme.scaled(10));
    update();
}

void VerdictBand::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Colours& colours = m_theme.colours();
    painter.fillRect(rect(), colours.raised);
    painter.fillRect(QRect(0, 0, m_theme.scaled(3), height()), edgeOf(m_verdict.kind, colours));
    painter.fillRect(QRect(0, height() - 1, width(), 1), colours.border);
}

} // namespace ui
