// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/draw_figure.h"

#include <array>

namespace engine {

namespace {

/// Widths of the characters from the space to the tilde in Inter, measured, in hundredths of the
/// font's size.
constexpr std::array kRegular = {
    27, 29, 40, 64, 64, 83, 65, 22, 38, 38, 52, 67, 29, 46, 28, 37, 65, 47, 61, 64, 65, 62, 64, 58,
    63, 64, 28, 29, 67, 67, 67, 53, 97, 70, 65, 74, 72, 60, 59, 75, 74, 27, 55, 66, 56, 90, 75, 77,
    64, 77, 65, 64, 65, 74, 70, 98, 67, 69, 64, 38, 37, 38, 48, 46, 50, 57, 63, 57, 63, 59, 37, 62,
    60, 25, 25, 56, 25, 88, 60, 60, 62, 62, 38, 54, 37, 59, 57, 83, 55, 57, 55, 38, 34, 38, 67};
constexpr double kBoldFactor = 1.04;
constexpr double kRoom = 1.02;  ///< browsers round each character to their own grid
constexpr double kOther = 68.0; ///< of any other character
constexpr double kMono = 60.0;  ///< of every character in Noto Sans Mono

} // namespace

double reportTextWidth(std::string_view text, const TextStyle& style) {
    double width = 0.0;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if ((byte & 0xC0U) == 0x80U)
            continue; // a further byte of the same character
        if (style.isMono)
            width += kMono;
        else
            width +=
                byte >= ' ' && byte <= '~' ? kRegular[byte - static_cast<unsigned>(' ')] : kOther;
    }
    return width * kRoom * style.size / 100.0 * (style.isBold && !style.isMono ? kBoldFactor : 1.0);
}

} // namespace engine
