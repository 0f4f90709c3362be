// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/colours.h"
#include "ui/views/layer_map/skip_set_facts.h"

#include <QRect>

class QPainter;

namespace ui {

/// The look of one cell of the layer map. A plain value.
struct CellLook {
    Sublayer kind = Sublayer::Attention;
    bool isSkipped = false;
    bool isLocked = false;
    bool differs = false;   ///< differs from the set it is compared with: outlined
    bool isCurrent = false; ///< under the pointer or the keyboard's focus
    bool isCopy = false;    ///< belongs to a near-silent copy of a layer: a bar at the bottom
    /// Two sets are compared: the upper half shows whether the first one skips it (isSkipped), the
    /// lower half whether the second one does.
    bool isCompared = false;
    bool isSkippedBySecond = false;
    bool isDraftLayer = false; ///< of no layer of the model, but of one that drafts beside it
};

/// Narrower cells have neither hatch nor gaps.
constexpr int kNarrowestHatchedCell = 5;

/// Paints one cell into its section of the map, gaps included: fill by state, hatch by kind
/// (attention diagonal, MLP dots), so that nothing depends on colour alone. Also suitable for
/// vector files: uses no clipping.
void paintCell(QPainter& painter,
               const QRect& section,
               const CellLook& look,
               const Colours& colours);

/// The hatch of a kind, in a rectangle.
void paintHatch(QPainter& painter, const QRect& area, Sublayer kind, const QColor& colour);

} // namespace ui
