// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/docks/view_menu.h"
#include "ui/views/skip_sets/compare/set_comparison.h"

#include <QScrollArea>

class QGridLayout;
class QLabel;
class QVBoxLayout;

namespace ui {

class FigureList;
class FigureView;
class OriginsView;
class ResultSection;
class ShardGrid;
class TaskMatrices;
class VerdictBand;

/// The forms in which a report is saved.
enum class ReportForm { Html, Markdown, Csv, Latex, Pdf };

/// A result: verdict, figures, tables, answers whose tokens tell their origin, how it was measured,
/// and what it can be saved as. While the run goes on it shows what is known so far. Thread: UI.
class ReportPage : public QScrollArea {
    Q_OBJECT

public:
    ReportPage(const ViewContext& context, ViewMenu& menu, QWidget* parent = nullptr);

    void setPicture(const RunPicturePtr& picture);

    /// Whether the papers' own values are shown beside ours.
    void setOverlay(bool isShown);

    VerdictBand& verdict() { return *m_verdict; }

    const std::vector<FigureView*>& figures() const { return m_figures; }

    /// Null if the result has no matrices of tasks.
    TaskMatrices* matrices() { return m_matrices; }

    const std::vector<ResultSection*>& tables() const { return m_tables; }

    /// Null if the result has no answers whose tokens tell their origin.
    const OriginsView* origins() const { return m_origins; }

signals:
    void saveAsked(ui::ReportForm form);

    /// An experiment is wanted that measures both sets.
    void runAsked(const ui::SetComparison& sets);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build();
    void placeSaves();
    void restyle();
    void showResult(const ResultPtr& result);
    void showFigures(const ResultPtr& result);
    void makeFigures(const std::vector<ResultFigurePtr>& figures);
    void makeMatrices();
    void showTables(const engine::ExperimentResult& result);
    void showOrigins(const engine::ExperimentResult& result);
    void showMeasured(const engine::ExperimentResult& result);

    ViewContext m_context;
    ViewMenu& m_menu;
    QWidget* m_content;
    ShardGrid* m_shards = nullptr;
    QLabel* m_waiting = nullptr;
    VerdictBand* m_verdict = nullptr;
    QVBoxLayout* m_parts = nullptr; ///< figures, then tables
    std::vector<FigureView*> m_figures;
    TaskMatrices* m_matrices = nullptr; ///< holds those of the figures
    std::vector<ResultSection*> m_tables;
    QVBoxLayout* m_originsRow = nullptr;
    OriginsView* m_origins = nullptr;
    QWidget* m_foot = nullptr;
    FigureList* m_measured = nullptr;
    QLabel* m_notes = nullptr;
    QGridLayout* m_saveGrid = nullptr;
    std::vector<QWidget*> m_saves; ///< what it can be saved as, behind their label
    RunPicturePtr m_picture;
    ResultFigurePtr m_film; ///< of a run that goes on; null: there is none
    ResultPtr m_shown;      ///< null before the first one
    bool m_hasOverlay = true;
};

} // namespace ui
