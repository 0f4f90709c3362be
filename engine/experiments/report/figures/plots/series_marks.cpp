// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/plots/series_marks.h"

namespace engine {

void drawSeriesMarker(Painter& painter, DrawingPoint at, const SeriesLook& look, Ink ink) {
    switch (look.index % 4) {
    case 0:
        painter.diamond(at, 4.5, ink, ink);
        break;
    case 1:
        painter.circle(at, 3.5, Ink::Panel, ink);
        break;
    case 2:
        painter.circle(at, 3.5, ink, ink);
        break;
    default:
        painter.diamond(at, 4.5, Ink::Panel, ink);
    }
}

void drawSeriesBar(Painter& painter, DrawingPoint from, DrawingPoint to, const SeriesLook& look) {
    constexpr HatchKind kHatches[] = {
        HatchKind::None, HatchKind::Diagonal, HatchKind::Dots, HatchKind::Horizontal};
    constexpr Ink kShades[] = {Ink::Heat4, Ink::Heat2, Ink::Heat5, Ink::Heat3};
    if (look.isPart) {
        // Draft and verify are told by their colour and place, the small rest by hatches too.
        Mark& mark = painter.rectangle(from, to, partInk(look.index));
        mark.hatch = look.index >= 2 ? kHatches[look.index % 4] : HatchKind::None;
    } else if (look.count == 1) {
        painter.rectangle(from, to, look.isEmphasised ? Ink::Accent : Ink::Raw);
    } else {
        // Sixteen series before a pair of shade and hatch comes again.
        Mark& mark = painter.rectangle(from, to, kShades[(look.index + look.index / 4) % 4]);
        mark.hatch = kHatches[look.index % 4];
    }
}

} // namespace engine
