// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/figure_table.h"

#include <QSize>

#include <optional>

class QPaintDevice;
class QPainter;

namespace ui {

/// What can be exported from a view: a picture and its numbers. Thread: UI.
class PictureSource {
public:
    virtual ~PictureSource() = default;

    virtual FigureTable table() const = 0;

    /// In pixels at scale 1, as on the screen.
    virtual QSize pictureSize() const = 0;

    /// Draws the whole picture at this size, for print: wider antialiased pens are allowed.
    virtual void drawPicture(QPaintDevice& device, QSize size) = 0;
};

/// Draws the whole picture, as lines and texts, with a painter that is already active.
void paintPicture(PictureSource& source, QPainter& painter, QSize size);

// These write a whole file or leave the old one. On an error they return a sentence for the user.

std::optional<QString> saveSvg(PictureSource& source, const QString& path);
std::optional<QString> savePng(PictureSource& source, const QString& path, double scale = 2.0);
std::optional<QString> saveCsv(const FigureTable& table, const QString& path);
std::optional<QString> saveBytes(const QByteArray& bytes, const QString& path);

} // namespace ui
