// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/origin/token_mark.h"
#include "ui/theme/theme.h"

#include <vector>

namespace ui {

/// What all parts of a message's layout share.
struct MessageContext {
    const Theme& theme;
    std::vector<TokenMark> tokens; ///< ascending, apart from one another
    bool showsOrigin = false;
    int width = 0; ///< of the text column, pixels
};

} // namespace ui
