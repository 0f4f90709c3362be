// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/options/hardware_panel.h"

#include "ui/views/models/figure_list.h"

#include <QLabel>
#include <QVBoxLayout>

namespace ui {

HardwarePanel::HardwarePanel(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_facts(new FigureList(theme, TextRole::Small, this))
    , m_none(plainLabel(this, true)) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    m_none->setText(tr("What a finished run was measured on is listed here."));
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_facts);
    column->addWidget(m_none);
    column->addStretch(1);
    connect(&theme, &Theme::changed, this, &HardwarePanel::restyle);
    restyle();
    setPicture(nullptr);
}

void HardwarePanel::setPicture(const RunPicturePtr& picture) {
    std::vector<FigureList::Row> rows;
    const auto add = [&](const QString& name, const QString& value) {
        if (!value.isEmpty())
            rows.push_back({name, value});
    };
    if (picture != nullptr && picture->facts != nullptr && picture->progress.machine) {
        const engine::MachineFacts& machine = *picture->progress.machine;
        add(tr("Computer"), QString::fromStdString(machine.host));
        add(tr("Processor"), QString::fromStdString(machine.processor));
        add(tr("Instructions"), QString::fromStdString(machine.instructionSet));
        add(tr("Threads"), machine.threads > 0 ? QString::number(machine.threads) : QString());
        add(tr("Memory"),
            machine.memoryGiB > 0.0 ? tr("%1 GiB").arg(machine.memoryGiB, 0, 'f', 1) : QString());
        add(tr("Memory read"),
            machine.roofGBs > 0.0 ? tr("%1 GB/s").arg(machine.roofGBs, 0, 'f', 1) : QString());
        add(tr("Backend"), QString::fromStdString(machine.backend));
        add(tr("Weights"), QString::fromStdString(machine.weights));
        add(tr("Program"), QString::fromStdString(machine.buildId));
    }
    m_none->setVisible(rows.empty());
    m_facts->setRows(std::move(rows));
}

void HardwarePanel::restyle() {
    const int side = m_theme.scaled(12);
    layout()->setContentsMargins(side, m_theme.scaled(8), side, m_theme.scaled(8));
    setTextColour(*m_none, m_theme.colours().muted);
}

} // namespace ui
