// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QColor>
#include <QIcon>
#include <QPixmap>

namespace ui {

/// The drawings of resources/icons, in the order of their file names.
enum class IconName {
    Attach,
    Branch,
    Chat,
    Check,
    ChevronDown,
    ChevronLeft,
    ChevronRight,
    Close,
    Copy,
    Dice,
    Edit,
    Error,
    Experiments,
    Folder,
    Freeze,
    Help,
    Info,
    Inspect,
    Learn,
    More,
    Play,
    Plus,
    Regenerate,
    Reset,
    Save,
    Search,
    Settings,
    Stop,
    Tune,
    Warning,
};

/// The drawing in one colour. Thread: UI.
QPixmap iconPixmap(IconName name, const QColor& colour, int pixels, double devicePixelRatio);

/// An icon that is drawn sharply at every size; `disabled` colours the disabled state.
QIcon makeIcon(IconName name, const QColor& colour, const QColor& disabled);

} // namespace ui
