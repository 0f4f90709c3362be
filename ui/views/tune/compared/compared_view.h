// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/tune/curves/tune_view.h"

#include <utility>
#include <vector>

class QLabel;

namespace ui {

class BeforeAfterChart;
class ScoreTable;

/// What the trained adapter, or the copy of the model, gives on the user's prompts, task by task: a
/// picture, and all its figures below. Thread: UI.
class ComparedView : public TuneView {
    Q_OBJECT

public:
    ComparedView(const ViewContext& context,
                 const TuningSession& session,
                 QWidget* parent = nullptr);

    FigureTable table() const override { return m_shown; }

    QSize pictureSize() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void showRun() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    bool isOwn() const { return session().isComparisonOwn(); }

    QString noteText() const;
    FigureTable tableOf(const std::vector<std::pair<QString, ComparedSum>>& rows,
                        bool isRead) const;
    void fitTable();

    FigureTable m_shown;
    BeforeAfterChart* m_chart;
    ScoreTable* m_table;
    QLabel* m_note;
};

} // namespace ui
