// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/experiments/scripted_experiment.h"
#include "tests/ui/support/view_stage.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/experiments/lists/queue_panel.h"
#include "ui/views/experiments/lists/recipe_panel.h"
#include "ui/views/experiments/options/hardware_panel.h"
#include "ui/views/experiments/options/options_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSettings>

#include <algorithm>
#include <initializer_list>
#include <memory>

namespace support {

/// The workspace Experiments in a window, with a script in place of swift-run.
struct StagedDesk {
    ScriptedExperiment script;
    ViewStage stage;
    QSettings settings{script.folder() + QStringLiteral("/studio.ini"), QSettings::IniFormat};
    ui::MessageBar messages{stage.theme};
    ui::ViewMenu menu{stage.theme, messages, nullptr};
    ui::ExperimentPlaces places{
        script.program(), QStringLiteral("resources/recipes"), script.folder()};
    std::unique_ptr<QWidget> window;
    std::unique_ptr<ui::ExperimentsDesk> desk;

    StagedDesk() { open(); }

    ~StagedDesk() { close(); }

    void open() {
        window = std::make_unique<QWidget>();
        desk = std::make_unique<ui::ExperimentsDesk>(
            stage.context(), menu, messages, settings, places);
        auto* row = new QHBoxLayout(window.get());
        for (QWidget* part : std::initializer_list<QWidget*>{&desk->recipes(),
                                                             &desk->queuePanel(),
                                                             &desk->page(),
                                                             &desk->options(),
                                                             &desk->hardware()})
            row->addWidget(part);
        window->resize(1500, 800);
        window->show();
        desk->begin();
    }

    /// The window before what it shows, as the program does.
    void close() {
        window.reset();
        desk.reset();
    }
};

/// A button that can be seen; null if there is none.
inline QPushButton* shownButton(QWidget& within, const QString& text) {
    for (QPushButton* button : within.findChildren<QPushButton*>())
        if (button->text() == text && button->isVisible())
            return button;
    return nullptr;
}

/// Whether a label that can be seen has these words.
inline bool labelSays(QWidget& within, const QString& words) {
    const auto says = [&](const auto* label) {
        return label->isVisible() && label->text().contains(words);
    };
    return std::ranges::any_of(within.findChildren<QLabel*>(), says) ||
           std::ranges::any_of(within.findChildren<ui::LiveLabel*>(), says);
}

} // namespace support
