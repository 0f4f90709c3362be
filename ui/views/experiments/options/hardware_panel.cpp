// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/options/hardware_panel.h"

#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/views/models/figure_list.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <map>
#include <set>

namespace ui {

namespace {

constexpr int kMostNumbers = 6; ///< of prompts that are named

using Rows = std::vector<FigureList::Row>;

void add(Rows& rows, const QString& name, const QString& value) {
    if (!value.isEmpty())
        rows.push_back({name, value});
}

/// The prompts that were left out, those of one reason together.
void addLeftOut(const engine::RunProgress& progress, Rows& rows) {
    std::map<std::string, std::set<int>> reasons;
    for (const engine::ShardLeftOut& prompt : progress.leftOut)
        reasons[prompt.reason].insert(prompt.prompt + 1);
    for (const auto& [reason, prompts] : reasons) {
        QStringList numbers;
        for (const int prompt : prompts)
            if (numbers.size() < kMostNumbers)
                numbers << QString::number(prompt);
        if (prompts.size() > kMostNumbers)
            numbers << QStringLiteral("\u2026");
        rows.push_back(
            {HardwarePanel::tr("%1 left out").arg(prompts.size()),
             HardwarePanel::tr("Prompt %1: %2")
                 .arg(numbers.join(QStringLiteral(", ")), QString::fromStdString(reason)),
             false,
             true,
             true});
    }
}

/// What is asked, of whom, and how steady vanilla is beside it.
void addRun(const RunPicture& picture, Rows& rows) {
    const engine::Recipe& recipe = picture.facts->recipe;
    const engine::RunProgress& progress = picture.progress;
    add(rows,
        HardwarePanel::tr("Answers"),
        HardwarePanel::tr("%1 of %2")
            .arg(numberText(progress.answers), numberText(progress.planned)));
    if (progress.plannedDraws > 0)
        add(rows,
            HardwarePanel::tr("Samples drawn"),
            HardwarePanel::tr("%1 of %2")
                .arg(numberText(progress.draws), numberText(progress.plannedDraws)));
    if (progress.plannedTrials > 0)
        add(rows,
            HardwarePanel::tr("Sets tried beforehand"),
            HardwarePanel::tr("%1 of %2")
                .arg(numberText(progress.trials), numberText(progress.plannedTrials)));
    if (!recipe.sizes.empty())
        add(rows,
            HardwarePanel::tr("Longest answer"),
            countText(recipe.sizes.begin()->second.maxTokens,
                      HardwarePanel::tr("1 token"),
                      HardwarePanel::tr("%1 tokens")));
    add(rows,
        HardwarePanel::tr("Figures are about"),
        readableTitle(QString::fromStdString(picture.facts->subject)));
    if (recipe.run)
        add(rows, HardwarePanel::tr("Seed"), QString::number(recipe.run->seed));
    if (progress.vanillaMs > 0.0)
        add(rows,
            HardwarePanel::tr("Vanilla, beside it"),
            HardwarePanel::tr("%1 tok/s")
                .arg(1e3 * static_cast<double>(progress.vanillaTokens) / progress.vanillaMs,
                     0,
                     'f',
                     1));
    if (progress.vanillaMoved)
        add(rows,
            HardwarePanel::tr("Vanilla moved by, median"),
            HardwarePanel::tr("%1 %").arg(100.0 * *progress.vanillaMoved, 0, 'f', 1));
    addLeftOut(progress, rows);
}

/// The newest one; the others were shown before it.
void addNote(const JobNotes& notes, Rows& rows) {
    if (notes.count > 0)
        rows.push_back({countText(notes.count,
                                  HardwarePanel::tr("Note"),
                                  HardwarePanel::tr("Newest of %1 notes")),
                        notes.newest,
                        false,
                        false,
                        true});
}

void addMachine(const engine::MachineFacts& machine, Rows& rows) {
    const auto tell = [&](const QString& name, const std::string& value) {
        add(rows, name, QString::fromStdString(value));
    };
    tell(HardwarePanel::tr("Computer"), machine.host);
    tell(HardwarePanel::tr("Processor"), machine.processor);
    tell(HardwarePanel::tr("Instructions"), machine.instructionSet);
    if (machine.threads > 0)
        add(rows, HardwarePanel::tr("Threads"), QString::number(machine.threads));
    if (machine.memoryGiB > 0.0)
        add(rows,
            HardwarePanel::tr("Memory"),
            HardwarePanel::tr("%1 GiB").arg(machine.memoryGiB, 0, 'f', 1));
    if (machine.roofGBs > 0.0)
        add(rows,
            HardwarePanel::tr("Memory read"),
            HardwarePanel::tr("%1 GB/s").arg(machine.roofGBs, 0, 'f', 1));
    tell(HardwarePanel::tr("Backend"), machine.backend);
    tell(HardwarePanel::tr("Weights"), machine.weights);
    tell(HardwarePanel::tr("Program"), machine.buildId);
}

} // namespace

HardwarePanel::HardwarePanel(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_facts(new FigureList(theme, TextRole::Small, this))
    , m_none(plainLabel(this, true)) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    m_none->setProperty("tone", "muted");
    m_none->setText(tr("What a run asks and how steady vanilla is beside it are listed here, and, "
                       "once a part is finished, the machine on which it was measured."));
    auto* content = new QWidget;
    content->setAttribute(Qt::WA_StyledBackground);
    content->setProperty("ground", QStringLiteral("panel"));
    m_column = new QVBoxLayout(content);
    m_column->addWidget(m_facts);
    m_column->addWidget(m_none);
    m_column->addStretch(1);
    auto* scroll = new ColumnScroll;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(content);
    scroll->setAccessibleName(tr("The run and its hardware"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(scroll);
    connect(&theme, &Theme::changed, this, &HardwarePanel::restyle);
    restyle();
}

void HardwarePanel::setPicture(const RunPicturePtr& picture, const JobNotes& notes) {
    std::vector<FigureList::Row> rows;
    const bool isRead = picture != nullptr && picture->facts != nullptr;
    if (isRead)
        addRun(*picture, rows);
    addNote(notes, rows);
    if (isRead && picture->progress.machine)
        addMachine(*picture->progress.machine, rows);
    const auto isSame = [](const FigureList::Row& a, const FigureList::Row& b) {
        return a.name == b.name && a.value == b.value;
    };
    if (std::ranges::equal(rows, m_facts->rows(), isSame))
        return; // a run at work is shown again and again
    m_none->setVisible(rows.empty());
    m_facts->setRows(std::move(rows));
}

void HardwarePanel::restyle() {
    const int side = m_theme.scaled(12);
    m_column->setContentsMargins(side, m_theme.scaled(8), side, m_theme.scaled(8));
}

} // namespace ui
