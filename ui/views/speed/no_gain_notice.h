// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/speed/gain_finding.h"

#include <QWidget>

#include <vector>

class QGridLayout;
class QLabel;
class QVBoxLayout;

namespace ui {

class Banner;
class Theme;

/// The finding that drafting does not pay, with its arithmetic on demand. Hidden while there
/// is nothing to show or after the user has closed it. Thread: UI.
class NoGainNotice : public QWidget {
    Q_OBJECT

public:
    /// The brief form leaves room for the widgets below it, and shows the numbers on request.
    explicit NoGainNotice(const Theme& theme, bool isBrief = false, QWidget* parent = nullptr);

    /// Sets the current finding; none while too little is measured. That, and a finding of other
    /// settings or another chat, forgets that the user has closed it.
    void update(const std::optional<GainFinding>& finding);

    bool isSaid() const { return m_isSaid; }

    bool isArithmeticShown() const { return m_isArithmeticShown; }

    /// The rows of the arithmetic: name, value.
    QStringList arithmetic() const;

signals:
    /// The user has closed it.
    void dismissed();

private:
    void makeBanner(const QString& headline);
    QString sentenceOf(const GainFinding& finding) const;
    void makeArithmetic();
    void showArithmetic(bool isShown);
    void writeArithmetic();
    void restyle();

    const Theme& m_theme;
    const bool m_isBrief;
    QVBoxLayout* m_column;
    Banner* m_banner = nullptr;
    QWidget* m_arithmetic = nullptr;
    QGridLayout* m_grid = nullptr;
    QLabel* m_title = nullptr;
    std::vector<QLabel*> m_names;
    std::vector<QLabel*> m_values;
    QLabel* m_conclusion = nullptr;
    std::optional<GainFinding> m_finding; ///< finding that is shown
    std::pair<int, std::int64_t> m_span;  ///< of the newest finding
    bool m_isSaid = false;
    bool m_isDismissed = false;
    bool m_isArithmeticShown = false;
};

} // namespace ui
