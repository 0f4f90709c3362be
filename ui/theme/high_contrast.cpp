// SPDX-License-Identifier: GPL-3.0-only
#include "ui/theme/colours.h"

// The high-contrast palettes: black and white, every edge in the colour of text, quiet greys as
// dark (or light) as readable text. What colours mean stays the same.

namespace ui {

namespace {

QColor opaque(unsigned value) { return QColor::fromRgb(value); }

/// The parts that have the same part of text, edge or ground in both palettes.
void sharpen(Colours& c, const QColor& text, const QColor& ground, const QColor& quiet) {
    c.window = ground;
    c.panel = ground;
    c.raised = ground;
    c.text = text;
    c.muted = quiet;
    c.border = text;
    c.controlBorder = text;
    c.keptOutline = text;
    c.axis = text;
    c.codeGround = ground;
    c.codeComment = quiet;
    c.tipGround = ground;
    c.rejectedText = text;
    c.accumulateBand = ground;
    c.optimiseBand = ground;
}

} // namespace

Colours highContrastLightColours() {
    Colours c = lightColours();
    sharpen(c, opaque(0x000000), opaque(0xFFFFFF), opaque(0x2B2F34));
    c.hover = opaque(0xDDE0E4);
    c.disabled = opaque(0x5A6068);
    c.accent = opaque(0x2B2F9E);
    c.selection = opaque(0xD3D6FA);
    c.focus = opaque(0x000000);
    c.success = opaque(0x0B5A33);
    c.warning = opaque(0x5C3700);
    c.warningLine = opaque(0x5C3700);
    c.error = opaque(0x8E1510);
    c.errorLine = opaque(0x8E1510);
    c.recording = opaque(0x8E1510);
    c.attention = opaque(0xB04A00);
    c.mlp = opaque(0x005A8E);
    c.kept = opaque(0xDADADA);
    c.acceptedLine = opaque(0x0B5A33);
    c.flashLine = opaque(0x5C3700);
    c.grid = opaque(0x9AA1A9);
    c.rawLine = opaque(0x6A717A);
    c.draftTime = opaque(0x2B2F9E);
    c.searchTime = opaque(0xC2C6CD);
    c.codeKeyword = opaque(0x44196A);
    c.codeLiteral = opaque(0x6B2D00);
    c.paperValue = opaque(0x5A6068);
    return c;
}

Colours highContrastDarkColours() {
    Colours c = darkColours();
    sharpen(c, opaque(0xFFFFFF), opaque(0x000000), opaque(0xD5DAE0));
    c.hover = opaque(0x2A2E33);
    c.disabled = opaque(0x9AA2AB);
    c.accent = opaque(0xB9BCFF);
    c.selection = opaque(0x34378A);
    c.focus = opaque(0xFFFFFF);
    c.success = opaque(0x7BE8AE);
    c.warning = opaque(0xFFD27A);
    c.warningLine = opaque(0xFFD27A);
    c.error = opaque(0xFFB0A9);
    c.errorLine = opaque(0xFFB0A9);
    c.recording = opaque(0xFFB0A9);
    c.attention = opaque(0xFFB52E);
    c.mlp = opaque(0x74C7F7);
    c.kept = opaque(0x33373B);
    c.acceptedLine = opaque(0x5FD3A4);
    c.flashLine = opaque(0xFFD27A);
    c.grid = opaque(0x5A626B);
    c.rawLine = opaque(0x8B939D);
    c.draftTime = opaque(0xB9BCFF);
    c.codeKeyword = opaque(0xDCC4FA);
    c.codeLiteral = opaque(0xFFCB9C);
    c.paperValue = opaque(0x9AA2AB);
    return c;
}

} // namespace ui
