// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/palette.h"

#include <fmt/format.h>

namespace engine {

namespace {

struct InkRow {
    Ink ink;
    const char* name;
    std::uint32_t light;
    std::uint32_t dark;
};

// Heat has one hue (petrol), and only its lightness changes: it survives every deficiency of colour
// vision and grey print. Attention and MLP have the colours of the layer map.
constexpr InkRow kInks[] = {{Ink::Panel, "panel", 0xFFFFFF, 0x1E2023},
                            {Ink::Shade, "shade", 0xF4F5F7, 0x24272B},
                            {Ink::Text, "text", 0x1B1F24, 0xE4E7EB},
                            {Ink::Muted, "muted", 0x57606A, 0xA0A8B2},
                            {Ink::Accent, "accent", 0x4A4FC4, 0x9A9EF5},
                            {Ink::Success, "success", 0x1A7F4B, 0x5CC98F},
                            {Ink::Warning, "warning", 0x8A5300, 0xF0C067},
                            {Ink::Grid, "grid", 0xE4E7EA, 0x32363C},
                            {Ink::Axis, "axis", 0x8B939D, 0x767E88},
                            {Ink::Raw, "raw", 0xB4BAC2, 0x5A616A},
                            {Ink::Paper, "paper", 0x8A929C, 0x7F8791},
                            {Ink::Attention, "attention", 0xD55E00, 0xE69F00},
                            {Ink::Mlp, "mlp", 0x0072B2, 0x56B4E9},
                            {Ink::Kept, "kept", 0xD0D0D0, 0x404448},
                            {Ink::KeptLine, "keptline", 0x8A8A8A, 0x7A7F85},
                            {Ink::Hatch, "hatch", 0xFFFFFF, 0x000000},
                            {Ink::Part0, "part0", 0x4A4FC4, 0x9A9EF5},
                            {Ink::Part1, "part1", 0x9CA0E6, 0x5E62B0},
                            {Ink::Part2, "part2", 0xC9CDD3, 0x4A5058},
                            {Ink::Part3, "part3", 0xE4E6EA, 0x363B41},
                            {Ink::Heat0, "heat0", 0xF4F7F8, 0x23292C},
                            {Ink::Heat1, "heat1", 0xDFECEE, 0x263A40},
                            {Ink::Heat2, "heat2", 0xBFDADE, 0x2B5059},
                            {Ink::Heat3, "heat3", 0x93C0C7, 0x356B77},
                            {Ink::Heat4, "heat4", 0x619FA9, 0x4A8E9B},
                            {Ink::Heat5, "heat5", 0x337884, 0x73B7C2},
                            {Ink::Heat6, "heat6", 0x0F4F5C, 0xB2E3E9},
                            {Ink::HeatText0, "heattext0", 0x1B1F24, 0xE4E7EB},
                            {Ink::HeatText1, "heattext1", 0x1B1F24, 0xE4E7EB},
                            {Ink::HeatText2, "heattext2", 0x1B1F24, 0xE4E7EB},
                            {Ink::HeatText3, "heattext3", 0x1B1F24, 0xFFFFFF},
                            {Ink::HeatText4, "heattext4", 0x1B1F24, 0x15171A},
                            {Ink::HeatText5, "heattext5", 0xFFFFFF, 0x15171A},
                            {Ink::HeatText6, "heattext6", 0xFFFFFF, 0x15171A},
                            {Ink::PartText0, "parttext0", 0xFFFFFF, 0x15171A},
                            {Ink::PartText1, "parttext1", 0x1B1F24, 0xFFFFFF},
                            {Ink::PartText2, "parttext2", 0x1B1F24, 0xE4E7EB},
                            {Ink::PartText3, "parttext3", 0x1B1F24, 0xE4E7EB}};
static_assert(std::size(kInks) == kInkCount);

constexpr double kHatchLight = 0.62;
constexpr double kHatchDark = 0.5;

Palette paletteOf(std::uint32_t InkRow::*colour, double hatch) {
    Palette palette{};
    for (const InkRow& row : kInks) {
        const std::uint32_t value = row.*colour;
        palette.at(static_cast<std::size_t>(row.ink)) = {
            static_cast<std::uint8_t>(value >> 16U),
            static_cast<std::uint8_t>((value >> 8U) & 0xFFU),
            static_cast<std::uint8_t>(value & 0xFFU),
            row.ink == Ink::Hatch ? hatch : 1.0};
    }
    return palette;
}

} // namespace

const Palette& lightPalette() {
    static const Palette palette = paletteOf(&InkRow::light, kHatchLight);
    return palette;
}

const Palette& darkPalette() {
    static const Palette palette = paletteOf(&InkRow::dark, kHatchDark);
    return palette;
}

std::string hexText(const InkColour& colour) {
    return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string inkName(Ink ink) {
    for (const InkRow& row : kInks) {
        if (row.ink == ink)
            return fmt::format("ink-{}", row.name);
    }
    return {};
}

} // namespace engine
