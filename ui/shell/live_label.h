// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/plot_parts.h"
#include "ui/theme/theme.h"

#include <QTimer>
#include <QWidget>

#include <vector>

namespace ui {

/// Words and figures that change while the model generates: another text is painted, and lays out
/// nothing but when it needs more room than any before it. Plain text only. Thread: UI.
class LiveLabel : public QWidget {
    Q_OBJECT

public:
    enum class Fit {
        Whole, ///< as wide as its text: one line; room once taken is kept while it is nearly used
        WholeOrCut, ///< as Whole, and cut with an ellipsis where there is less room
        Cut,        ///< one line in the room it is given, cut with an ellipsis
        Wrapped,    ///< as many lines as it needs in the width it is given; see kKeptMs
    };

    /// Lines once taken are kept as long as this behind the last text that needed them: sentences
    /// that change with every picture move nothing, and those that stay leave no hole.
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

    /// To the left, else to the right; the line stands in the middle of the height.
    void setAlignedRight(bool isAlignedRight);

    QString text() const;

    /// What stands there: cut where the room ends.
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
    int m_width = 0;    ///< of the room, where it has one of its own
    int m_lines = 1;
    int m_usedLines = 1; ///< the most that were needed since m_giveBack began
    QTimer m_giveBack;
};

} // namespace ui
