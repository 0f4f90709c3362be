// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/tune/curves/tune_view.h"

class QLabel;

namespace ui {

class FigureTableModel;
class PlainTable;

/// Whether a copy of the model is as good as the model, as the program has measured it at the end,
/// with the limits. Thread: UI.
class QualityView : public TuneView {
    Q_OBJECT

public:
    QualityView(const ViewContext& context,
                const TuningSession& session,
                QWidget* parent = nullptr);

    FigureTable table() const override { return m_shown; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void showRun() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitColumns();

    FigureTable m_shown;
    FigureTableModel* m_model;
    PlainTable* m_table;
    QLabel* m_note;
};

} // namespace ui
