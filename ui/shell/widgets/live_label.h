// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/plot_parts.h"
#include "ui/theme/theme.h"

#include <QTimer>
#include <QWidget>

#include <vector>

namespace ui {

/// A text with figures that change while the model generates. A new text is only painted; it causes
/// a layout only when it needs more room than any before. Plain text only. Thread: UI.
class LiveLabel : public QWidget {
    Q_OBJECT

public:
    enum class Fit {
        Whole, ///< one line, as wide as its text; room once taken is kept while it is nearly used
        WholeOrCut, ///< as Whole, and cut with an ellipsis where there is less room
        Cut,        ///< one line in the room it is given, cut with an ellipsis
        Wrapped,    ///< as many lines as it needs in the width it is given; see kKeptMs
    };

    /// Lines once taken are kept for this long after the last text that needed them. So sentences
    /// that change with every picture move nothing, and those that stay leave no gap.
    static constexpr int kKeptMs = 1500;

    /// A part of the text with a look of its own.
    struct Run {
        QString text;
        bool isStrong = false;
        ColourName colour = nullptr; ///< null: the label's

        bool operator==(const Run&) const = default;
    };

    /// The theme must live longer.
    LiveLabel(const Theme& theme,
              TextRole role,
              ColourName colour,
              Fit fit = Fit::Whole,
              QWidget* parent = nullptr);

    void setText(const QString& text);

    /// Side by side in one line; a label that is wrapped takes no runs.
    void setRuns(std::vector<Run> runs);

    /// Aligned to the left, otherwise to the right; vertically centred.
    void setAlignedRight(bool isAlignedRight);

    QString text() const;

    /// The text as shown, cut where the room ends.
    QString shownText() const;

    bool isCut() const { return shownText() != text(); }

    QFont textFont() const { return m_theme.font(m_role); }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void restyle();
    void takeRoom();
    void takeLines(int lines);
    void noteLines();

    bool hasOwnWidth() const { return m_fit == Fit::Whole || m_fit == Fit::WholeOrCut; }

    QFont fontOf(const Run& run) const;
    std::vector<Run> shownRuns() const;
    int neededWidth() const;
    int neededLines() const;

    const Theme& m_theme;
    TextRole m_role;
    ColourName m_colour;
    Fit m_fit;
    bool m_isAlignedRight = false;
    std::vector<Run> m_runs;
    QString m_measured; ///< the text that the room was measured for, without its figures
    int m_width = 0;    ///< width of the room, if it has one of its own
    int m_lines = 1;
    int m_usedLines = 1; ///< the most that were needed since m_giveBack began
    QTimer m_giveBack;
};

} // namespace ui
