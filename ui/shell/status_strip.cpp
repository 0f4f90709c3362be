// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/status_strip.h"

#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>

#include <unistd.h>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

/// How often the system is asked about memory, at most.
constexpr int kMemoryMs = 1000;

QString strong(const QString& figure) {
    return QStringLiteral("<b>%1</b>").arg(figure.toHtmlEscaped());
}

} // namespace

QString phaseText(DecoderPhase phase) {
    switch (phase) {
    case DecoderPhase::Accumulate:
        return StatusStrip::tr("accumulate");
    case DecoderPhase::Optimise:
        return StatusStrip::tr("optimise");
    case DecoderPhase::Accelerate:
        return StatusStrip::tr("accelerate");
    case DecoderPhase::Plain:
        break;
    }
    return StatusStrip::tr("plain");
}

std::optional<MemoryInUse> memoryInUse() {
    QFile statm(QStringLiteral("/proc/self/statm"));
    if (!statm.open(QIODevice::ReadOnly))
        return std::nullopt;
    const QList<QByteArray> parts = statm.readAll().split(' ');
    const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
    if (parts.size() < 2)
        return std::nullopt;
    return MemoryInUse{parts[1].toDouble() * page,
                       static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page};
}

StatusStrip::StatusStrip(const Theme& theme,
                         const RunStore& store,
                         EngineBridge& bridge,
                         QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_store(store)
    , m_bridge(bridge)
    , m_row(new QHBoxLayout(this))
    , m_model(addPart(tr("Model")))
    , m_device(addPart(tr("Device")))
    , m_phase(addPart(tr("Phase")))
    , m_tokens(addPart(tr("Tokens per second")))
    , m_speedup(addPart(tr("Speedup")))
    , m_memory(addPart(tr("Memory")))
    , m_pace(addPart(tr("View rate")))
    , m_remark(addPart(tr("Newest remark"))) {
    m_device->setTextFormat(Qt::PlainText); // names a file
    m_remark->setTextFormat(Qt::PlainText);
    m_remark->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_remark->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_row->setStretchFactor(m_remark, 1);
    m_bridge.add(*this,
                 Topic::Model | Topic::Loading | Topic::Decoder | Topic::Answers | Topic::Search |
                     Topic::Speed | Topic::Recording | Topic::Remarks);
    connect(&bridge, &EngineBridge::pictureIntervalChanged, this, [this] { refresh({}); });
    connect(&theme, &Theme::changed, this, &StatusStrip::restyle);
    restyle();
    refresh({});
}

StatusStrip::~StatusStrip() { m_bridge.remove(*this); }

QLabel* StatusStrip::addPart(const QString& name) {
    auto* label = new QLabel(this);
    label->setAccessibleName(name);
    label->setToolTip(name);
    m_row->addWidget(label);
    return label;
}

void StatusStrip::setSource(const QString& source) {
    m_source = source;
    refresh({});
}

void StatusStrip::refresh(Topics changed) {
    if (changed & (Topic::Model | Topic::Loading))
        m_memoryClock.invalidate();
    const ModelLoaded* model = m_store.model();
    const ModelLoadProgress* loading = m_store.loading();
    if (loading != nullptr)
        m_model->setText(strong(
            tr("Opening %1").arg(QFileInfo(QString::fromStdString(loading->path)).fileName())));
    else if (model != nullptr)
        m_model->setText(strong(QString::fromStdString(model->model.name)));
    else
        m_model->setText(tr("No model"));
    QString device = m_source;
    if (device.isEmpty() && model != nullptr)
        device = QStringLiteral("%1, %2").arg(QString::fromStdString(model->model.backend),
                                              QString::fromStdString(model->model.precision));
    m_device->setText(device);
    m_device->setVisible(!device.isEmpty());
    const bool isRunning = m_store.answers().isRunning();
    m_phase->setText(
        isRunning ? QStringLiteral("<span style='color:%1'>\u25A0</span> %2")
                        .arg(m_theme.colours().success.name(), strong(phaseText(m_store.phase())))
                  : tr("ready"));
    m_phase->setVisible(model != nullptr);
    showSpeed();
    showMemory();
    showRemark();
    const int interval = m_bridge.pictureInterval();
    m_pace->setVisible(interval > EngineBridge::kTickMs);
    m_pace->setText(tr("Views slowed to %1 a second").arg(1000 / interval));
}

void StatusStrip::showSpeed() {
    const Answer* answer = m_store.answers().latest();
    const bool hasSpeed = answer != nullptr && !answer->steps.empty();
    m_tokens->setVisible(hasSpeed);
    const auto speedup = m_store.speed().wholeSpeedup();
    m_speedup->setVisible(hasSpeed && speedup.has_value());
    if (hasSpeed)
        m_tokens->setText(
            tr("%1 tok/s")
                .arg(strong(QString::number(answer->steps.back().tokensPerSecond, 'f', 1))));
    if (speedup)
        m_speedup->setText(
            tr("%1 vs vanilla").arg(strong(QString::number(*speedup, 'f', 2) + u'\u00D7')));
}

void StatusStrip::showMemory() {
    if (m_memoryClock.isValid() && m_memoryClock.elapsed() < kMemoryMs)
        return;
    m_memoryClock.start();
    const auto memory = memoryInUse();
    m_memory->setVisible(memory.has_value());
    if (memory)
        m_memory->setText(
            tr("Memory %1 / %2 GiB")
                .arg(strong(QString::number(memory->processBytes / kGibibyte, 'f', 1)),
                     QString::number(memory->machineBytes / kGibibyte, 'f', 1)));
}

/// The tool tip has the last ones whole.
void StatusStrip::showRemark() {
    constexpr std::size_t kTold = 8;
    const std::vector<std::string>& remarks = m_store.remarks();
    const QString newest = remarks.empty() ? QString() : QString::fromStdString(remarks.back());
    m_remark->setText(
        m_remark->fontMetrics().elidedText(newest, Qt::ElideRight, m_remark->width()));
    QStringList lines;
    for (std::size_t i = remarks.size() - std::min(remarks.size(), kTold); i < remarks.size(); ++i)
        lines << QString::fromStdString(remarks[i]).toHtmlEscaped();
    m_remark->setToolTip(lines.join(QLatin1String("<br>")));
    m_remark->setAccessibleDescription(newest);
}

void StatusStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    showRemark();
}

void StatusStrip::restyle() {
    setFixedHeight(m_theme.scaled(24));
    m_row->setContentsMargins(m_theme.scaled(12), 1, m_theme.scaled(12), 0);
    m_row->setSpacing(m_theme.scaled(24));
    const auto labels = findChildren<QLabel*>();
    for (QLabel* label : labels) {
        label->setFont(m_theme.font(TextRole::Small));
        label->setProperty("tone", "muted");
    }
    refresh({});
    update();
}

void StatusStrip::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.fillRect(rect(), colours.window);
    painter.fillRect(QRect(0, 0, width(), 1), colours.border);
    const auto labels = findChildren<QLabel*>();
    for (const QLabel* label : labels)
        if (label->isVisible() && label != m_model && !label->text().isEmpty())
            painter.fillRect(QRect(label->x() - m_theme.scaled(12),
                                   height() / 2 - m_theme.scaled(7),
                                   1,
                                   m_theme.scaled(14)),
                             colours.border);
}

} // namespace ui
