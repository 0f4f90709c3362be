// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/tune/curves/tune_view.h"

namespace ui {

class LinePlot;

/// How many of the model's tokens the exit behind each layer says: now, or of the state that was
/// kept, and at the first measure. Thread: UI.
class ExitsView : public TuneView {
    Q_OBJECT

public:
    ExitsView(const ViewContext& context, const TuningSession& session, QWidget* parent = nullptr);

    FigureTable table() const override;

    LinePlot& plot() { return *m_plot; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void showRun() override;

private:
    LinePlot* m_plot;
    std::vector<double> m_first; ///< [exits]
    std::vector<double> m_now;   ///< likewise
};

} // namespace ui
