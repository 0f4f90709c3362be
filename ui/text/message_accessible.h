// SPDX-License-Identifier: GPL-3.0-only
#pragma once

namespace ui {

/// Lets screen readers read message bodies as text. Calling it again does nothing.
void installMessageAccessibility();

} // namespace ui
