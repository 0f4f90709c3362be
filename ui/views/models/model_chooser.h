// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/views/models/library/recent_models.h"

#include <QPushButton>

class QMenu;

namespace ui {

/// The button at the right end of the menu bar: which model is loaded, and a menu of recent models,
/// Open, Unload. Thread: UI.
class ModelChooser : public QPushButton {
    Q_OBJECT

public:
    ModelChooser(const ViewContext& context, RecentModels& recent, QWidget* parent = nullptr);

    /// "DeepSeek LLM 7B Chat", "No model"; and "bf16 · 30 layers", "45 %".
    QString name() const { return m_name; }

    QString facts() const { return m_facts; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// A recent model; ModelPanel::propose() shows it.
    void modelWanted(const QString& path);
    void fileWanted();
    void folderWanted();

    /// The model that the set-up fetches.
    void defaultWanted();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void apply(const engine::EngineEvent& event);
    void describe();
    void fillMenu();

    const Theme& m_theme;
    const RunStore& m_store;
    EngineBridge& m_bridge;
    RecentModels& m_recent;
    QMenu* m_menu;
    QString m_name;
    QString m_facts;
};

} // namespace ui
