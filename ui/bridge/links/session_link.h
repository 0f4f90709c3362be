// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_session.h"
#include "ui/bridge/links/engine_link.h"

#include <memory>

namespace ui {

/// The engine on its own thread. Destroying it stops a running answer within one forward pass.
std::unique_ptr<EngineLink> makeSessionLink(engine::SessionOptions options);

} // namespace ui
