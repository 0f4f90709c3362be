// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/docks/view_menu.h"

#include <QScrollArea>

class QGridLayout;
class QLabel;
class QVBoxLayout;

namespace ui {

class FigureList;
class FigureView;
class ResultSection;
class ShardGrid;
class VerdictBand;

/// The forms in which a report is saved.
enum class ReportForm { Html, Markdown, Csv, Latex, Pdf };

/// A result: verdict, figures, tables, how it was measured, and what it can be saved as. While the
/// run goes on it shows what is known so far. Thread: UI.
class ReportPage : public QScrollArea {
    Q_OBJECT

public:
    ReportPage(const ViewContext& context, ViewMenu& menu, QWidget* parent = nullptr);

    void setPicture(const RunPicturePtr& picture);

    /// Whether the papers' own values are shown beside ours.
    void setOverlay(bool isShown);

    VerdictBand& verdict() { return *m_verdict; }

    const std::vector<FigureView*>& figures() const { return m_figures; }

    const std::vector<ResultSection*>& tables() const { return m_tables; }

signals:
    void saveAsked(ui::ReportForm form);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build();
    void placeSaves();
    void restyle();
    void showResult(const engine::ExperimentResult& result);
    void showFigures(const engine::ExperimentResult& result);
    void showTables(const engine::ExperimentResult& result);
    void showMeasured(const engine::ExperimentResult& result);

    ViewContext m_context;
    ViewMenu& m_menu;
    QWidget* m_content;
    ShardGrid* m_shards = nullptr;
    QLabel* m_waiting = nullptr;
    QVBoxLayout* m_waitingRow = nullptr;
    VerdictBand* m_verdict = nullptr;
    QVBoxLayout* m_parts = nullptr; ///< figures, then tables
    std::vector<FigureView*> m_figures;
    std::vector<ResultSection*> m_tables;
    QWidget* m_foot = nullptr;
    FigureList* m_measured = nullptr;
    QLabel* m_notes = nullptr;
    QGridLayout* m_saveGrid = nullptr;
    std::vector<QWidget*> m_saves; ///< what it can be saved as, behind their label
    RunPicturePtr m_picture;
    std::shared_ptr<const engine::ExperimentResult> m_shown;
    bool m_hasOverlay = true;
};

} // namespace ui
