// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/learn/learn_stage.h"
#include "ui/shell/docks/view_menu.h"

#include <QWidget>

#include <vector>

class QStackedWidget;

namespace ui {

class EmptyLearn;

/// The centre of the workspace Learn: the chosen stage under its title, or what to do while there
/// is no round of an answer to show. Stages that are not shown are not refreshed. Thread: UI.
class LearnPage : public QWidget, public Picture {
    Q_OBJECT

public:
    LearnPage(const ViewContext& context,
              ViewMenu& menu,
              const std::vector<LearnStage>& stages,
              QWidget* parent = nullptr);
    ~LearnPage() override;

    EmptyLearn& emptyPage() { return *m_empty; }

    /// Whether no answer of this run has a round.
    bool isEmpty() const;

    /// The chosen stage, from 0; also while there is nothing to show in it.
    int stage() const { return m_stage; }

    View* stageView(int index) const { return m_views.at(static_cast<std::size_t>(index)); }

    void showStage(int index);

    /// Does nothing for an unknown id.
    void showStage(const QString& id);

    bool isShowing() const override { return isVisible(); }

    void refresh(Topics changed) override;

signals:
    void stageShown(int index);

private:
    ViewContext m_context;
    QStackedWidget* m_stack;
    EmptyLearn* m_empty;
    std::vector<View*> m_views;     // [stages]
    std::vector<bool> m_needsRound; // [stages]
    int m_stage = 0;
};

} // namespace ui
