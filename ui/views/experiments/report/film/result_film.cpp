// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/film/result_film.h"

#include "ui/views/experiments/report/drawing_painter.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr int kFilmWidthAt100 = 960; ///< of a film whose text has 100 %
constexpr int kFilmMargin = 16;      ///< pixels at 100 %
constexpr double kWidestStrip = 8000.0;
constexpr double kTallestShape = 1.5; ///< height of a strip over its width
constexpr double kLongestSide = 15'900.0;
constexpr double kMostPixels = 24e6; ///< the window waits while they are written

engine::FigureCanvas canvasOf(const Theme& theme, double width) {
    engine::FigureCanvas canvas;
    canvas.width = width;
    canvas.textScale = theme.scaled(100) / 100.0;
    canvas.textWidth = drawingTextWidth(theme);
    return canvas;
}

void paintWithMargin(QPaintDevice& device,
                     QSize size,
                     const engine::Drawing& drawing,
                     const Theme& theme) {
    QPainter painter(&device);
    painter.fillRect(QRect(QPoint(), size), theme.colours().panel);
    painter.translate(theme.scaled(kFilmMargin), theme.scaled(kFilmMargin));
    paintDrawing(painter, drawing, theme);
}

int withMargin(const Theme& theme, double length) {
    return static_cast<int>(std::ceil(length)) + 2 * theme.scaled(kFilmMargin);
}

} // namespace

ResultFilm::ResultFilm(const Theme& theme, engine::ResultFigure figure, int width)
    : m_figure(std::move(figure))
    , m_film(engine::setFilm(m_figure))
    , m_moments(engine::evenPlaces(m_film.moments.size(), engine::kMostFilmFrames)) {
    m_theme.setChoice(theme.lastingChoice());
    m_theme.setTextPercent(width * 100 / kFilmWidthAt100);
    m_size = {width, 0};
    if (!m_moments.empty())
        m_size.setHeight(withMargin(m_theme, draw(m_moments.back()).height));
}

QString ResultFilm::title() const {
    return QCoreApplication::translate("ResultFilm", "the film of the sets");
}

QString ResultFilm::fileName() const { return QString::fromStdString(m_figure.id); }

engine::Drawing ResultFilm::draw(std::size_t moment) const {
    const int width = m_size.width() - 2 * m_theme.scaled(kFilmMargin);
    return engine::drawFigure(engine::filmMoment(m_figure, m_film, moment),
                              canvasOf(m_theme, width));
}

FilmFrame ResultFilm::frame(int index) {
    QImage picture(m_size, QImage::Format_RGB32);
    paintWithMargin(picture, m_size, draw(m_moments.at(static_cast<std::size_t>(index))), m_theme);
    const bool isLast = index + 1 == frameCount();
    return {picture, isLast ? engine::kFilmEndMs : engine::filmFrameMs(m_moments.size())};
}

/// As wide as it must be so that it does not become a ribbon.
FilmStrip::FilmStrip(const Theme& theme, const engine::ResultFigure& figure)
    : m_theme(theme) {
    engine::FigureCanvas canvas = canvasOf(theme, theme.scaled(kFilmWidthAt100));
    canvas.mostPictures = std::min(figure.panels.size(), engine::kMostFilmChanges);
    m_drawing = engine::drawFigure(figure, canvas);
    while (m_drawing.height > kTallestShape * m_drawing.width && canvas.width < kWidestStrip) {
        canvas.width *= 1.5;
        m_drawing = engine::drawFigure(figure, canvas);
    }
}

QSize FilmStrip::pictureSize() const {
    return {withMargin(m_theme, m_drawing.width), withMargin(m_theme, m_drawing.height)};
}

void FilmStrip::drawPicture(QPaintDevice& device, QSize size) {
    paintWithMargin(device, size, m_drawing, m_theme);
}

double FilmStrip::scale() const {
    const QSizeF size = pictureSize();
    return std::min({2.0,
                     kLongestSide / std::max(size.width(), size.height()),
                     std::sqrt(kMostPixels / (size.width() * size.height()))});
}

} // namespace ui
