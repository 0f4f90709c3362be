// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/scripted_link.h"
#include "ui/bridge/engine_bridge.h"
#include "ui/shell/docks/view.h"

#include <QCoreApplication>
#include <QUndoStack>

#include <memory>

namespace support {

/// All that a view is made from, on a scripted engine.
struct ViewStage {
    ui::Theme theme;
    ui::RunStore store;
    ui::Selection selection;
    QUndoStack undoStack;
    ScriptedLink* engine = new ScriptedLink; ///< the bridge owns it
    ui::EngineBridge bridge{std::unique_ptr<ScriptedLink>(engine), store};
    double time = 0.0;

    ui::ViewContext context() { return {theme, store, bridge, selection, undoStack}; }

    /// Straight into the store, without the engine.
    void say(engine::EventContent content) {
        bridge.markChanged(store.apply({time += 0.02, std::move(content)}));
    }

    /// The engine says it and the bridge passes it on.
    void tell(engine::EventContent content) {
        engine->say(std::move(content));
        bridge.tick();
    }

    /// Everything that was said is on the screen behind this.
    void settle() {
        bridge.refreshPictures();
        for (int i = 0; i < 4; ++i)
            QCoreApplication::processEvents();
    }
};

} // namespace support
