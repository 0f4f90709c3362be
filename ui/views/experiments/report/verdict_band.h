// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/experiment_result.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;

namespace ui {

/// The finding of an experiment in a sentence with its number, and the cause behind it. Green with
/// a tick where the claim holds, in the colour of warnings where it does not; never red. Thread:
/// UI.
class VerdictBand : public QWidget {
    Q_OBJECT

public:
    explicit VerdictBand(const Theme& theme, QWidget* parent = nullptr);

    void setVerdict(const engine::ExperimentVerdict& verdict);

    QString text() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();

    const Theme& m_theme;
    engine::ExperimentVerdict m_verdict;
    QLabel* m_icon;
    QLabel* m_words;
};

} // namespace ui
