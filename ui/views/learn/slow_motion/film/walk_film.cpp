// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/film/walk_film.h"

#include "ui/views/learn/slow_motion/controls/stop_caret.h"
#include "ui/views/learn/slow_motion/pictures/walk_layers.h"
#include "ui/views/learn/slow_motion/pictures/walk_mask.h"
#include "ui/views/learn/slow_motion/pictures/walk_numbers.h"
#include "ui/views/learn/slow_motion/pictures/walk_tree.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"
#include "ui/views/learn/slow_motion/walk_texts.h"

#include <QCoreApplication>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ui {

namespace {

constexpr int kFilmNumbers = 300; ///< pixels at 100 %
constexpr int kWidthAt100 = 960;  ///< of a film whose text has 100 %
constexpr int kSentenceLines = 3;

QString filmText(const char* text) { return QCoreApplication::translate("WalkFilm", text); }

} // namespace

WalkFilm::WalkFilm(const Theme& theme, engine::RoundWalk walk, int round, int width)
    : m_scene{std::move(walk), 0, 0.0}
    , m_round(round)
    , m_moves(theme.reducesMotion()
                  ? 0
                  : static_cast<int>(std::lround(SlowMotionView::kMoveMs / kFrameMs))) {
    m_theme.setChoice(theme.lastingChoice());
    m_theme.setTextPercent(width * 100 / kWidthAt100);
    build(width);
}

WalkFilm::~WalkFilm() = default;

void WalkFilm::build(int width) {
    const Colours& colours = m_theme.colours();
    m_page = std::make_unique<QWidget>();
    QPalette palette = m_page->palette();
    palette.setColor(QPalette::Window, colours.panel);
    palette.setColor(QPalette::WindowText, colours.text);
    m_page->setPalette(palette);
    m_page->setAutoFillBackground(true);
    const auto label = [&](TextRole role) {
        QLabel* made = plainLabel(m_page.get(), true);
        made->setFont(m_theme.font(role));
        setTextColour(*made, colours.text);
        const int side = m_theme.scaled(12);
        made->setContentsMargins(side, m_theme.scaled(8), side, 0);
        return made;
    };
    QLabel* heading = label(TextRole::Title);
    heading->setText(filmText("Round %1").arg(m_round + 1));
    m_caret = new StopCaret(m_theme, m_page.get());
    m_sentence = label(TextRole::Conversation);
    m_sentence->setTextFormat(Qt::RichText);
    m_sentence->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_sentence->setMinimumHeight(QFontMetrics(m_sentence->font()).lineSpacing() * kSentenceLines +
                                 m_theme.scaled(16));
    auto* layers = new WalkLayers(m_theme);
    auto* tree = new WalkTree(m_theme);
    auto* mask = new WalkMask(m_theme);
    auto* numbers = new WalkNumbers(m_theme);
    numbers->setFixedWidth(m_theme.scaled(kFilmNumbers));
    m_pictures = {layers, tree, mask, numbers};
    for (ScenePicture* picture : m_pictures)
        picture->show(&m_scene);
    auto* column = new QVBoxLayout;
    column->setSpacing(1);
    column->addWidget(tree);
    column->addWidget(mask);
    column->addStretch(1);
    auto* side = new QVBoxLayout;
    side->addWidget(numbers);
    side->addStretch(1);
    auto* body = new QHBoxLayout;
    body->setSpacing(1);
    body->addLayout(column, 1);
    body->addLayout(side);
    auto* rows = new QVBoxLayout(m_page.get());
    rows->setContentsMargins(0, 0, 0, m_theme.scaled(8));
    rows->setSpacing(m_theme.scaled(4));
    rows->addWidget(heading);
    rows->addWidget(m_caret);
    rows->addWidget(m_sentence);
    rows->addWidget(layers);
    rows->addLayout(body, 1);
    m_page->ensurePolished();
    m_page->setFixedWidth(width);
    const int height = rows->hasHeightForWidth() ? rows->totalHeightForWidth(width)
                                                 : rows->totalSizeHint().height();
    m_page->resize(width, height);
}

QString WalkFilm::title() const { return filmText("round %1").arg(m_round + 1); }

QString WalkFilm::fileName() const { return QStringLiteral("round-%1").arg(m_round + 1); }

int WalkFilm::frameCount() const {
    return static_cast<int>(m_scene.walk.stops.size()) * framesOfStop();
}

std::pair<int, double> WalkFilm::momentOf(int index) const {
    const int within = index % framesOfStop();
    return {index / framesOfStop(), m_moves == 0 ? 1.0 : within / double(m_moves)};
}

FilmFrame WalkFilm::frame(int index) {
    std::tie(m_scene.stop, m_scene.part) = momentOf(index);
    QStringList titles;
    for (const engine::RoundStop stop : m_scene.walk.stops)
        titles << stopTitle(stop);
    m_caret->show(titles, m_scene.stop);
    const WordStyle style(m_theme.colours());
    m_sentence->setText(
        style.word(stopTitle(m_scene.current()) + QLatin1Char('.'), WordTone::Stop) +
        QLatin1Char(' ') + stopSentence(m_scene.walk, m_scene.current(), style));
    for (ScenePicture* picture : m_pictures)
        picture->show(&m_scene);
    QImage picture(m_page->size(), QImage::Format_RGB32);
    picture.fill(m_theme.colours().panel);
    QPainter painter(&picture);
    m_page->render(&painter);
    painter.end();
    const bool isLast = m_scene.part >= 1.0;
    const double rest =
        m_moves == 0 ? SlowMotionView::kRestWithoutMotionMs : SlowMotionView::kRestMs;
    return {picture, isLast ? static_cast<int>(rest) : kFrameMs};
}

} // namespace ui
