// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/stacked_bars.h"
#include "ui/shell/docks/view.h"

namespace ui {

/// How a decode step's time is spent: draft, verify, search, other, in this answer and in this chat
/// with this decoder and settings.
class LatencyView : public View {
    Q_OBJECT

public:
    explicit LatencyView(const ViewContext& context, QWidget* parent = nullptr);

    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    const StackedBars& bars() const { return *m_bars; }

protected:
    void refreshView(Topics changed) override;

private:
    void restyle();

    StackedBars* m_bars;
};

} // namespace ui
