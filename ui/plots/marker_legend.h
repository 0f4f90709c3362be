// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/plot_parts.h"

#include <QWidget>

#include <vector>

namespace ui {

class Theme;

/// Says what markers mean, in the title of a dock. Thread: UI.
class MarkerLegend : public QWidget {
    Q_OBJECT

public:
    struct Entry {
        QString name;
        Marker marker = Marker::None; ///< None = a step of the line
        ColourName colour = &Colours::muted;
    };

    MarkerLegend(const Theme& theme, std::vector<Entry> entries, QWidget* parent = nullptr);

    QSize sizeHint() const override;

    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Theme& m_theme;
    std::vector<Entry> m_entries;
};

} // namespace ui
