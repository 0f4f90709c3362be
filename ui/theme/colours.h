// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QColor>

#include <array>

namespace ui {

/// All colours of the window, named by their meaning. The one accent colour is indigo, because
/// orange, blue, green and purple stand for data. A plain value. Source: the project's mock-ups;
/// contrasts are tested.
struct Colours {
    bool isDark = false;

    QColor window; ///< behind everything, bars and strips
    QColor panel;  ///< ground of docks, views and fields
    QColor raised; ///< dock titles
    QColor hover;
    QColor text;
    QColor muted;
    QColor disabled;
    QColor border;        ///< separating lines
    QColor controlBorder; ///< buttons and fields
    QColor accent;        ///< current, selected, or the live measured value; nothing else
    QColor onAccent;
    QColor selection; ///< ground of what is selected
    QColor focus;     ///< the ring

    QColor success;
    QColor successGround;
    QColor warning;
    QColor warningGround;
    QColor warningLine;
    QColor error;
    QColor errorGround;
    QColor errorLine;
    QColor recording; ///< the mark while something is written to a file

    QColor attention; ///< a skipped attention sublayer
    QColor mlp;       ///< a skipped MLP sublayer
    QColor kept;
    QColor keptOutline;
    QColor keptInHistory;
    QColor hatch; ///< over attention and mlp; translucent

    QColor accepted; ///< ground of an accepted token
    QColor acceptedLine;
    QColor rejected;
    QColor rejectedText;

    QColor flash; ///< ground of what the full model is computing, or has just said
    QColor flashLine;

    QColor grid;
    QColor axis;
    QColor rawLine;
    QColor draftTime;
    QColor onDraftTime;
    QColor verifyTime;
    QColor onVerifyTime;
    QColor searchTime;
    QColor otherTime;
    QColor accumulateBand;
    QColor optimiseBand;
    QColor accelerateBand;

    std::array<QColor, 7> heat;   ///< steps of a scale; more is further from the ground
    std::array<QColor, 7> onHeat; ///< text on them
    QColor paperValue;            ///< a paper's own figures beside ours

    QColor codeGround;
    QColor codeKeyword;
    QColor codeLiteral;
    QColor codeComment;
    QColor tipGround;
};

Colours lightColours();
Colours darkColours();
Colours highContrastLightColours();
Colours highContrastDarkColours();

/// WCAG contrast of two opaque colours, 1 to 21.
double contrast(const QColor& a, const QColor& b);

} // namespace ui
