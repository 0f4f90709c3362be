// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view_menu.h"
#include "ui/tuning/tuning_session.h"

#include <QWidget>

#include <utility>
#include <vector>

class QGridLayout;
class QLabel;
class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace ui {

class ColumnScroll;
class EmptyTune;
class PageHeader;
class PhaseBar;
class TuneView;
class VerdictBand;

/// The centre of the workspace Tune: how the training stands, with a bar of actions above it.
/// Thread: UI.
class TunePage : public QWidget {
    Q_OBJECT

public:
    enum class Action { Stop, PauseOrGoOn, Compare, Remove, Use, Reload };

    /// All outlive it.
    TunePage(const ViewContext& context,
             const TuningSession& session,
             ViewMenu& menu,
             QWidget* parent = nullptr);

    EmptyTune& emptyPage() { return *m_empty; }

    QPushButton& button(Action action) const;

    /// What the band says; empty while it is hidden.
    QString finding() const;

    const std::vector<TuneView*>& views() const { return m_views; }

signals:
    void actionAsked(ui::TunePage::Action action);
    void modelAsked();
    void filesDropped(const QStringList& paths);

    /// It was seen, and is not any more.
    void left();

protected:
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void build(const ViewContext& context, ViewMenu& menu);
    bool isShown(std::size_t part) const;
    void arrange();
    void showSession();
    void showButtons();
    void showUse();
    void showLoading(bool isLayerUsed);
    void showNotice();
    void restyle();

    const Theme& m_theme;
    const TuningSession& m_session;
    PageHeader* m_header;
    std::vector<std::pair<Action, QPushButton*>> m_buttons;
    QVBoxLayout* m_noticePlace;
    QWidget* m_notice = nullptr;
    QString m_noticeText;
    PhaseBar* m_phases;
    VerdictBand* m_band;
    QLabel* m_note;
    QStackedWidget* m_body;
    EmptyTune* m_empty;
    ColumnScroll* m_scroll;
    QGridLayout* m_grid = nullptr;
    QWidget* m_firstPlot = nullptr;
    std::vector<TuneView*> m_views;
    std::vector<QWidget*> m_parts; ///< the views with their titles
    int m_columns = 0;
    TuningRecipe m_arranged = TuningRecipe::Draft; ///< whose views are shown
};

} // namespace ui
