// SPDX-License-Identifier: GPL-3.0-only
#pragma once

namespace ui {

/// Lets screen readers read message bodies as text. Further calls do nothing.
void installMessageAccessibility();

} // namespace ui
