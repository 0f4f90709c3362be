// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

namespace ui {

/// One line that explains how tokens are marked, drawn by the code that draws the tokens.
class OriginLegend : public QWidget {
    Q_OBJECT

public:
    explicit OriginLegend(const Theme& theme, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Theme& m_theme;
};

} // namespace ui
