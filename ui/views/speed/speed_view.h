// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/line_plot.h"
#include "ui/shell/docks/view.h"
#include "ui/views/speed/speed_curve.h"
#include "ui/views/speed/speed_figures.h"

#include <optional>

class QPushButton;

namespace ui {

class LiveLabel;
class NoGainNotice;

/// Compact: the headline and the measured lines, for the dock beside the conversation.
enum class SpeedForm { Full, Compact };

/// Tokens per second and speedup over decoding time, compared with the measured baseline and the
/// formulas' predictions. Each line and figure belongs to one of SpeedLog's spans and says which.
class SpeedView : public View {
    Q_OBJECT

public:
    static constexpr double kShownSeconds = 60.0; ///< of decoding, at most
    static constexpr double kLeastSeconds = 1.0;  ///< at least

    explicit SpeedView(const ViewContext& context,
                       SpeedForm form = SpeedForm::Full,
                       QWidget* parent = nullptr);

    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    /// Whether the vertical axis shows tokens per second instead of multiples of the baseline.
    void setInTokensPerSecond(bool isInTokens);

    QString headline() const;
    QString detail() const;

    LinePlot& plot() { return *m_plot; }

protected:
    void refreshView(Topics changed) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    enum Series { Raw, Chat, Now, Newest };

    void makeHeader();
    void makePlot();
    void restyle();
    bool isWide() const;
    void updateHeader();
    void layOutDetail();
    void updateReferences();
    void updateSpans();
    void updatePoints();
    void feed(bool isAnew);
    void feedNewest();
    void appendSample(const SpeedCurve::Sample& sample);
    void updateMarks();
    void updateAxes();
    void showUnit();
    PlotRange xRange() const;
    PlotRange yRange() const;

    /// The axis value of one token per millisecond: milliseconds of a plain step, or 1000.
    double unit() const;

    /// The axis value of a speed; `plainMs`: the time of a plain step then, 0 = not known.
    double valueOf(double tokensPerMs, double plainMs) const;
    bool isInTokensPerSecond() const;

    SpeedForm m_form;
    bool m_wantsTokens = false;
    LiveLabel* m_headline = nullptr;
    LiveLabel* m_beside = nullptr; ///< the first part of the detail; in the full form only
    LiveLabel* m_detail = nullptr;
    QString m_reported; ///< the whole detail
    QPushButton* m_unitButton = nullptr;
    QWidget* m_header = nullptr;
    LinePlot* m_plot = nullptr;
    NoGainNotice* m_noGain = nullptr; ///< in the full form only
    SpeedCurve m_curve;
    std::vector<ExpectedSpeed> m_expected;
    /// Milliseconds of a plain step of this chat, also while vanilla is measured again.
    std::optional<double> m_vanillaMs;
    std::size_t m_fedSamples = 0;
    double m_fedUnit = 0.0;
    bool m_fedInTokens = false;
};

} // namespace ui
