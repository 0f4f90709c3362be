// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/scripted_link.h"
#include "ui/bridge/engine_bridge.h"
#include "ui/shell/view.h"

#include <QCoreApplication>
#include <QUndoStack>

#include <memory>

namespace support {

/// All that a view is made from, fed by hand: events go straight into the store.
struct ViewStage {
    ui::Theme theme;
    ui::RunStore store;
    ui::Selection selection;
    QUndoStack undoStack;
    ui::EngineBridge bridge{std::make_unique<ScriptedLink>(), store};
    double time = 0.0;

    ui::ViewContext context() { return {theme, store, bridge, selection, undoStack}; }

    void say(engine::EventContent content) {
        bridge.markChanged(store.apply({time += 0.02, std::move(content)}));
    }

    /// Everything that was said is on the screen behind this.
    void settle() {
        bridge.refreshPictures();
        for (int i = 0; i < 4; ++i)
            QCoreApplication::processEvents();
    }
};

} // namespace support
