// SPDX-License-Identifier: GPL-3.0-only
#include "ui/theme/colours.h"

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

QColor rgb(unsigned value) { return QColor::fromRgb(value); }

double linear(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& colour) {
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

} // namespace

Colours lightColours() {
    return {.isDark = false,
            .window = rgb(0xF1F3F5),
            .panel = rgb(0xFFFFFF),
            .raised = rgb(0xF8F9FA),
            .hover = rgb(0xEBEEF1),
            .text = rgb(0x1B1F24),
            .muted = rgb(0x57606A),
            .disabled = rgb(0x9BA3AC),
            .border = rgb(0xD8DCE1),
            .controlBorder = rgb(0xAEB5BE),
            .accent = rgb(0x4A4FC4),
            .onAccent = rgb(0xFFFFFF),
            .selection = rgb(0xE7E8F9),
            .focus = rgb(0x4A4FC4),
            .success = rgb(0x1A7F4B),
            .successGround = rgb(0xE6F5EC),
            .warning = rgb(0x8A5300),
            .warningGround = rgb(0xFFF5DF),
            .warningLine = rgb(0xE0BC6B),
            .error = rgb(0xB3261E),
            .errorGround = rgb(0xFDEEEC),
            .errorLine = rgb(0xE3A29C),
            .recording = rgb(0xC5221F),
            .attention = rgb(0xD55E00),
            .mlp = rgb(0x0072B2),
            .kept = rgb(0xD0D0D0),
            .keptOutline = rgb(0x8A8A8A),
            .keptInHistory = rgb(0xE9EBED),
            .hatch = QColor(255, 255, 255, 158),
            .accepted = rgb(0xCDEBDD),
            .acceptedLine = rgb(0x2F9169),
            .rejected = rgb(0xF3DCE9),
            .rejectedText = rgb(0x7A3A5E),
            .flash = rgb(0xFFE08A),
            .flashLine = rgb(0xB07B00),
            .grid = rgb(0xECEEF1),
            .axis = rgb(0x8B939D),
            .rawLine = rgb(0xC3C8D0),
            .draftTime = rgb(0x4A4FC4),
            .onDraftTime = rgb(0xFFFFFF),
            .verifyTime = rgb(0x9CA0E6),
            .onVerifyTime = rgb(0x1B1F24),
            .searchTime = rgb(0xC9CDD3),
            .otherTime = rgb(0xE4E6EA),
            .accumulateBand = rgb(0xF5F6F8),
            .optimiseBand = rgb(0xFFFFFF),
            .accelerateBand = rgb(0xF3F4FD),
            .heat = {rgb(0xF4F7F8),
                     rgb(0xDFECEE),
                     rgb(0xBFDADE),
                     rgb(0x93C0C7),
                     rgb(0x619FA9),
                     rgb(0x337884),
                     rgb(0x0F4F5C)},
            .onHeat = {rgb(0x1B1F24),
                       rgb(0x1B1F24),
                       rgb(0x1B1F24),
                       rgb(0x1B1F24),
                       rgb(0x1B1F24),
                       rgb(0xFFFFFF),
                       rgb(0xFFFFFF)},
            .paperValue = rgb(0xA0A7B0),
            .codeGround = rgb(0xF6F7F9),
            .codeKeyword = rgb(0x5B2A86),
            .codeLiteral = rgb(0x8A3B00),
            .codeComment = rgb(0x57606A),
            .tipGround = rgb(0xFFFFFF)};
}

Colours darkColours() {
    return {.isDark = true,
            .window = rgb(0x17191C),
            .panel = rgb(0x1E2023),
            .raised = rgb(0x24272B),
            .hover = rgb(0x2C3035),
            .text = rgb(0xE4E7EB),
            .muted = rgb(0xA0A8B2),
            .disabled = rgb(0x6B737D),
            .border = rgb(0x34383E),
            .controlBorder = rgb(0x565D67),
            .accent = rgb(0x9A9EF5),
            .onAccent = rgb(0x15171A),
            .selection = rgb(0x2D2F52),
            .focus = rgb(0xB3B6FF),
            .success = rgb(0x5CC98F),
            .successGround = rgb(0x17322A),
            .warning = rgb(0xF0C067),
            .warningGround = rgb(0x332A17),
            .warningLine = rgb(0x6B5623),
            .error = rgb(0xFF8F86),
            .errorGround = rgb(0x3A2020),
            .errorLine = rgb(0x7A3B37),
            .recording = rgb(0xFF8F86),
            .attention = rgb(0xE69F00),
            .mlp = rgb(0x56B4E9),
            .kept = rgb(0x404448),
            .keptOutline = rgb(0x7A7F85),
            .keptInHistory = rgb(0x33373B),
            .hatch = QColor(0, 0, 0, 128),
            .accepted = rgb(0x14463A),
            .acceptedLine = rgb(0x43A583),
            .rejected = rgb(0x4F2B40),
            .rejectedText = rgb(0xE6B3CF),
            .flash = rgb(0x7A6000),
            .flashLine = rgb(0xF0C067),
            .grid = rgb(0x292C31),
            .axis = rgb(0x767E88),
            .rawLine = rgb(0x4C525A),
            .draftTime = rgb(0x9A9EF5),
            .onDraftTime = rgb(0x15171A),
            .verifyTime = rgb(0x5E62B0),
            .onVerifyTime = rgb(0xFFFFFF),
            .searchTime = rgb(0x4A5058),
            .otherTime = rgb(0x363B41),
            .accumulateBand = rgb(0x24272B),
            .optimiseBand = rgb(0x1E2023),
            .accelerateBand = rgb(0x23253A),
            .heat = {rgb(0x23292C),
                     rgb(0x263A40),
                     rgb(0x2B5059),
                     rgb(0x356B77),
                     rgb(0x4A8E9B),
                     rgb(0x73B7C2),
                     rgb(0xB2E3E9)},
            .onHeat = {rgb(0xE4E7EB),
                       rgb(0xE4E7EB),
                       rgb(0xE4E7EB),
                       rgb(0xFFFFFF),
                       rgb(0x15171A),
                       rgb(0x15171A),
                       rgb(0x15171A)},
            .paperValue = rgb(0x6F7781),
            .codeGround = rgb(0x191B1E),
            .codeKeyword = rgb(0xC9A6F2),
            .codeLiteral = rgb(0xF0B27A),
            .codeComment = rgb(0xB4BBC4),
            .tipGround = rgb(0x2A2D32)};
}

double contrast(const QColor& a, const QColor& b) {
    const double first = luminance(a);
    const double second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

} // namespace ui
