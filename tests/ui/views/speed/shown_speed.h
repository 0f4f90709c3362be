// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/figures_run.h"
#include "ui/views/speed/speed_view.h"

namespace support {

/// A view of this size on the screen, and the run that it shows.
struct ShownSpeed {
    ViewStage stage;
    ui::SpeedView view{stage.context()};

    explicit ShownSpeed(const QSize& size = {452, 260}) {
        view.resize(size);
        view.show();
    }
};

} // namespace support
