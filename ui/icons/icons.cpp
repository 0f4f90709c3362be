// SPDX-License-Identifier: GPL-3.0-only
#include "ui/icons/icons.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QSvgRenderer>

#include <array>

/// A static library's resources must be asked for; outside of any namespace, as the macro demands.
static void findDrawings() { Q_INIT_RESOURCE(icons); }

namespace ui {

namespace {

constexpr std::array kFileNames = {
    "attach",        "branch", "chat",     "check", "chevron_down", "chevron_left",
    "chevron_right", "close",  "copy",     "dice",  "edit",         "error",
    "experiments",   "folder", "freeze",   "help",  "info",         "inspect",
    "learn",         "more",   "play",     "plus",  "regenerate",   "reset",
    "save",          "search", "settings", "stop",  "tune",         "warning",
};
static_assert(kFileNames.size() == static_cast<std::size_t>(IconName::Warning) + 1);

/// The drawing with its strokes in this colour.
QByteArray drawing(IconName name, const QColor& colour) {
    [[maybe_unused]] static const bool isFound = (findDrawings(), true);
    QFile file(QStringLiteral(":/icons/%1.svg")
                   .arg(QLatin1String(kFileNames[static_cast<std::size_t>(name)])));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return file.readAll().replace("currentColor", colour.name().toLatin1());
}

class DrawnIcon : public QIconEngine {
public:
    DrawnIcon(IconName name, const QColor& colour, const QColor& disabled)
        : m_name(name)
        , m_colour(colour)
        , m_disabled(disabled) {}

    void paint(QPainter* painter, const QRect& place, QIcon::Mode mode, QIcon::State) override {
        QSvgRenderer renderer(drawing(m_name, mode == QIcon::Disabled ? m_disabled : m_colour));
        renderer.render(painter, place);
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        if (size.isEmpty())
            return {}; // of a button that has no room; nothing can be painted there
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }

    QIconEngine* clone() const override { return new DrawnIcon(*this); }

private:
    IconName m_name;
    QColor m_colour;
    QColor m_disabled;
};

} // namespace

QPixmap iconPixmap(IconName name, const QColor& colour, int pixels, double devicePixelRatio) {
    const int real = static_cast<int>(pixels * devicePixelRatio + 0.5);
    QPixmap pixmap(real, real);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    QSvgRenderer(drawing(name, colour)).render(&painter);
    painter.end();
    pixmap.setDevicePixelRatio(devicePixelRatio);
    return pixmap;
}

QIcon makeIcon(IconName name, const QColor& colour, const QColor& disabled) {
    return QIcon(new DrawnIcon(name, colour, disabled));
}

} // namespace ui
