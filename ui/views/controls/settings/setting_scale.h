// SPDX-License-Identifier: GPL-3.0-only
#pragma once

namespace ui {

/// Converts between a number and its slider position. Whole numbers over a wide range (S: 0 to
/// 1000000) are spread by magnitude, with two significant digits; all else evenly. A plain value.
class SettingScale {
public:
    /// `initial` is shown in full, whatever the range.
    SettingScale(double minimum, double maximum, bool isInteger, double initial = 0.0);

    /// The slider runs from 0 to this.
    int lastPosition() const { return m_lastPosition; }

    /// Whether a slider is of any use; seeds and the like are only typed.
    bool hasSlider() const { return m_hasSlider; }

    double step() const { return m_step; } ///< of the spin box's arrows

    int decimals() const { return m_decimals; }

    int positionOf(double value) const;
    double valueAt(int position) const;

private:
    double m_minimum;
    double m_maximum;
    bool m_isInteger;
    bool m_isWide = false;
    bool m_hasSlider = true;
    double m_step = 1.0;
    int m_decimals = 0;
    int m_lastPosition = 0;
};

} // namespace ui
