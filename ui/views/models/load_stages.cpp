// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/load_stages.h"

#include "ui/icons/icons.h"
#include "ui/views/models/model_report.h"

#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace ui {

namespace {

constexpr int kRead = 0;
constexpr int kPrepare = 1;

// The share of the first stage that is done when each of its engine stages begins.
constexpr std::array<std::pair<std::string_view, double>, 3> kReadParts = {
    {{"files", 0.0}, {"tokenizer", 0.3}, {"fingerprint", 0.6}}};

} // namespace

LoadStages::LoadStages(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Progress of loading"));
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void LoadStages::begin(std::uint64_t weightBytes) {
    m_parts = {};
    m_doneMs = {};
    m_weightBytes = weightBytes;
    m_clock.start();
    describe();
}

void LoadStages::setProgress(const engine::ModelLoadProgress& progress) {
    if (!m_clock.isValid())
        m_clock.start();
    if (progress.stage == "weights") {
        if (!isDone(kRead))
            m_doneMs[kRead] = m_clock.elapsed();
        m_parts[kRead] = 1.0;
        m_parts[kPrepare] = std::clamp(progress.part, m_parts[kPrepare], 1.0);
        if (isDone(kPrepare) && m_doneMs[kPrepare] == 0)
            m_doneMs[kPrepare] = m_clock.elapsed();
    } else {
        for (const auto& [stage, start] : kReadParts)
            if (progress.stage == stage)
                m_parts[kRead] = std::clamp(start + 0.3 * progress.part, m_parts[kRead], 0.99);
    }
    describe();
}

QString LoadStages::figure(int stage) const {
    const double done = part(stage);
    const auto at = static_cast<std::size_t>(stage);
    if (isDone(stage)) {
        const QString seconds = QString::number(static_cast<double>(m_doneMs[at]) / 1000.0, 'f', 1);
        return tr("done in %1 s").arg(seconds);
    }
    if (stage == kPrepare && m_weightBytes > 0) {
        const auto ready = static_cast<std::uint64_t>(done * static_cast<double>(m_weightBytes));
        return tr("%1 of %2").arg(sizeText(ready), sizeText(m_weightBytes));
    }
    return stage == kPrepare && !isDone(kRead) ? QString()
                                               : tr("%1 %").arg(std::lround(100.0 * done));
}

void LoadStages::describe() {
    setAccessibleDescription(
        tr("Read from disk: %1. Prepare for decoding: %2.").arg(figure(kRead), figure(kPrepare)));
    update();
}

int LoadStages::stageHeight() const { return m_theme.scaled(40); }

QSize LoadStages::sizeHint() const { return {m_theme.scaled(240), kCount * stageHeight()}; }

void LoadStages::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    for (int stage = 0; stage < kCount; ++stage)
        paintStage(painter, stage, stage * stageHeight());
}

void LoadStages::paintStage(QPainter& painter, int stage, int top) {
    const Colours& colours = m_theme.colours();
    const int line = m_theme.scaled(20);
    const int indent = m_theme.scaled(20);
    const QRect mark(0, top, indent, line);
    painter.setFont(m_theme.font(TextRole::DockTitle));
    if (isDone(stage)) {
        const int size = m_theme.scaled(16);
        painter.drawPixmap(0,
                           top + (line - size) / 2,
                           iconPixmap(IconName::Check, colours.success, size, devicePixelRatioF()));
    } else {
        painter.setPen(stage == 0 || isDone(0) ? colours.text : colours.muted);
        painter.drawText(mark, Qt::AlignLeft | Qt::AlignVCenter, QString::number(stage + 1));
    }
    const QRect words(indent, top, width() - indent, line);
    painter.setPen(stage == 0 || isDone(0) ? colours.text : colours.muted);
    painter.drawText(words,
                     Qt::AlignLeft | Qt::AlignVCenter,
                     stage == kRead ? tr("Read from disk") : tr("Prepare for decoding"));
    painter.setFont(m_theme.font(TextRole::Figure));
    painter.setPen(colours.muted);
    painter.drawText(words, Qt::AlignRight | Qt::AlignVCenter, figure(stage));
    const int thickness = m_theme.scaled(4);
    QRectF bar(indent, top + line + m_theme.scaled(3), width() - indent, thickness);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colours.hover);
    painter.drawRoundedRect(bar, thickness / 2.0, thickness / 2.0);
    bar.setWidth(bar.width() * part(stage));
    painter.setBrush(isDone(stage) ? colours.success : colours.accent);
    painter.drawRoundedRect(bar, thickness / 2.0, thickness / 2.0);
}

} // namespace ui
