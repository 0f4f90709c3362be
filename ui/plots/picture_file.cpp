// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/picture_file.h"

#include "ui/files/whole_file.h"
#include "ui/language/tr.h"

#include <QBuffer>
#include <QDir>
#include <QImage>
#include <QPainter>
#include <QPicture>
#include <QSvgGenerator>

#include <algorithm>

namespace ui {

namespace {

constexpr int kLargestSide = 16'000; ///< pixels of a PNG
constexpr int kSvgDotsPerInch = 96;  ///< so that a pixel of the screen is a unit of the picture

} // namespace

void paintPicture(PictureSource& source, QPainter& painter, QSize size) {
    // A plot needs a painter of its own kind: its lines and texts are recorded, then played.
    QPicture picture;
    source.drawPicture(picture, size);
    painter.drawPicture(0, 0, picture);
}

std::optional<QString> saveBytes(const QByteArray& bytes, const QString& path) {
    const QString problem = saveWhole(bytes, path);
    if (problem.isEmpty())
        return std::nullopt;
    return tr("The file %1 could not be written: %2. Choose another folder, or free some space.")
        .arg(QDir::toNativeSeparators(path), problem);
}

std::optional<QString> saveSvg(PictureSource& source, const QString& path) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(kSvgDotsPerInch);
    generator.setSize(source.pictureSize());
    generator.setViewBox(QRect(QPoint(0, 0), source.pictureSize()));
    source.drawPicture(generator, source.pictureSize());
    return saveBytes(buffer.data(), path);
}

std::optional<QString> savePng(PictureSource& source, const QString& path, double scale) {
    const QSize size = source.pictureSize();
    const QSize pixels = (QSizeF(size) * scale).toSize();
    if (pixels.isEmpty() || std::max(pixels.width(), pixels.height()) > kLargestSide)
        return tr("A picture of %1 x %2 pixels cannot be created. Choose a smaller scale.")
            .arg(pixels.width())
            .arg(pixels.height());
    QImage image(pixels, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(Qt::transparent);
    source.drawPicture(image, size);
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    if (!image.save(&buffer, "PNG"))
        return tr("The picture could not be turned into a PNG. Save it as SVG instead.");
    return saveBytes(buffer.data(), path);
}

std::optional<QString> saveCsv(const FigureTable& table, const QString& path) {
    return saveBytes(toCsv(table), path);
}

} // namespace ui
