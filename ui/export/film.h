// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QImage>
#include <QString>

namespace ui {

/// A picture of a film and how long it stays. A plain value.
struct FilmFrame {
    QImage picture;
    int milliseconds = 0;
};

/// A sequence of pictures that is drawn one by one, because all of them at once would be large. It
/// keeps what it shows: what happens in the window meanwhile does not change it. Thread: UI.
class Film {
public:
    virtual ~Film() = default;

    /// What it shows, for the user: "round 12".
    virtual QString title() const = 0;

    /// Of a file, without its ending.
    virtual QString fileName() const = 0;

    virtual int frameCount() const = 0;

    /// All frames have the same size. `index` is below frameCount().
    virtual FilmFrame frame(int index) = 0;
};

} // namespace ui
