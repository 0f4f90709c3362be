// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/film/film_bar.h"

#include "ui/export/film_dialog.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/shell/widgets/transport_button.h"
#include "ui/views/experiments/report/film/result_film.h"
#include "ui/views/layer_map/history/column_slider.h"

#include <QAction>
#include <QDir>
#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kMostStopsOfFilm = 120; ///< so that playing a long film does not take minutes

} // namespace

FilmBar::FilmBar(const ViewContext& context, FigureView& view, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_view(view) {
    build();
    addSaves();
    connect(m_slider, &QSlider::valueChanged, this, &FilmBar::goTo);
    connect(m_slider, &ColumnSlider::playRequested, this, [this] { setPlaying(!m_isPlaying); });
    connect(m_previous, &QToolButton::clicked, this, [this] { goTo(m_place - 1); });
    connect(m_next, &QToolButton::clicked, this, [this] { goTo(m_place + 1); });
    connect(m_play, &QToolButton::clicked, this, [this] { setPlaying(!m_isPlaying); });
    connect(&m_view, &FigureView::figureChanged, this, &FilmBar::takeFigure);
    connect(&context.bridge, &EngineBridge::tickFinished, this, &FilmBar::playOn);
    connect(&context.theme, &Theme::changed, this, &FilmBar::restyle);
    restyle();
    takeFigure();
}

void FilmBar::build() {
    const Theme& theme = m_context.theme;
    using Sign = TransportButton::Sign;
    m_previous = new TransportButton(theme, Sign::Previous, tr("Previous change"), this);
    m_play = new TransportButton(theme, Sign::Play, tr("Play the film"), this);
    m_next = new TransportButton(theme, Sign::Next, tr("Next change"), this);
    m_slider = new ColumnSlider(theme, this);
    m_slider->setAccessibleName(tr("Position in the film of the sets"));
    m_words = new LiveLabel(theme, TextRole::Small, &Colours::text, LiveLabel::Fit::Wrapped, this);
    m_save = new QPushButton(tr("Save the film"), this);
    m_save->setProperty("form", "small");
    m_outcome = plainLabel(this, true);
    m_outcome->setProperty("tone", "small");
    m_outcome->hide();
    auto* scrubber = new QHBoxLayout;
    scrubber->setSpacing(0);
    for (TransportButton* button : {m_previous, m_play, m_next})
        scrubber->addWidget(button);
    scrubber->addWidget(m_slider, 1);
    auto* last = new QHBoxLayout;
    last->addWidget(m_words, 1);
    last->addWidget(m_save, 0, Qt::AlignTop);
    auto* column = new QVBoxLayout(this);
    column->addLayout(scrubber);
    column->addLayout(last);
    column->addWidget(m_outcome);
}

/// They stand in the menu of the figure, too.
void FilmBar::addSaves() {
    auto* strip = new QAction(tr("Save as PNG strip..."), this);
    auto* animation = new QAction(tr("Save as animation..."), this);
    connect(strip, &QAction::triggered, this, &FilmBar::askForStrip);
    connect(animation, &QAction::triggered, this, &FilmBar::showDialog);
    auto* menu = new QMenu(m_save);
    for (QAction* action : {strip, animation}) {
        menu->addAction(action);
        m_view.addAction(action);
    }
    m_save->setMenu(menu);
}

void FilmBar::restyle() {
    const Theme& theme = m_context.theme;
    const int side = theme.scaled(12);
    layout()->setContentsMargins(side, 0, side, side);
    layout()->setSpacing(theme.scaled(4));
}

/// One who sees the newest change goes on seeing the newest one while the search goes on.
void FilmBar::takeFigure() {
    if (!engine::isFilm(m_view.figure()))
        return;
    const bool isAtEnd = m_place + 1 >= count();
    m_film = engine::setFilm(m_view.figure());
    goTo(isAtEnd && !m_isPlaying ? count() - 1 : m_place);
}

void FilmBar::goTo(int place) {
    if (m_film.moments.empty())
        return;
    m_place = std::clamp(place, 0, count() - 1);
    {
        const QSignalBlocker blocker(m_slider);
        m_slider->setRange(0, count() - 1);
        m_slider->setValue(m_place);
    }
    m_slider->update();
    m_slider->setEnabled(count() > 1);
    m_play->setEnabled(count() > 1);
    m_previous->setEnabled(m_place > 0);
    m_next->setEnabled(m_place + 1 < count());
    m_view.setStill(engine::filmMoment(m_view.figure(), m_film, static_cast<std::size_t>(m_place)));
    const QString words = momentWords();
    m_words->setText(words);
    m_view.setCell(std::nullopt, words); // for a screen reader
}

QString FilmBar::momentWords() const {
    const engine::SetFilm::Moment& moment = m_film.moments[static_cast<std::size_t>(m_place)];
    QStringList words{
        tr("Change %1 of %2").arg(QString::number(m_place + 1), QString::number(count())),
        tr("%1 s").arg(QString::number(moment.at, 'f', 1))};
    for (std::size_t i = 0; i < m_film.tracks.size(); ++i) {
        const QString name = QString::fromStdString(m_film.tracks[i].name);
        words << (name.isEmpty() ? setWords(i) : QStringLiteral("%1: %2").arg(name, setWords(i)));
    }
    return words.join(QStringLiteral(" \u00B7 "));
}

QString FilmBar::setWords(std::size_t track) const {
    const auto& shown = m_film.moments[static_cast<std::size_t>(m_place)].panels[track];
    if (!shown)
        return tr("no set yet");
    const engine::FigurePanel& panel = m_view.figure().panels[*shown];
    qsizetype all = 0;
    qsizetype skipped = 0;
    for (const auto& row : panel.cells) {
        all += static_cast<qsizetype>(row.size());
        skipped += std::ranges::count_if(
            row, [](const engine::Estimate& cell) { return cell.value > 0.5; });
    }
    const QString words =
        tr("%1 of %2 sublayers skipped").arg(QString::number(skipped), QString::number(all));
    const engine::Estimate& score = panel.series.front().points.front().y;
    return score.count > 0 ? tr("matchness %1, %2").arg(QString::number(score.value, 'f', 3), words)
                           : words;
}

QString FilmBar::sentence() const { return m_words->text(); }

QString FilmBar::outcome() const { return m_outcome->text(); }

void FilmBar::setPlaying(bool isPlaying) {
    m_isPlaying = isPlaying && count() > 1;
    m_ticks = 0;
    if (m_isPlaying && m_place + 1 == count())
        goTo(0);
    m_play->setSign(m_isPlaying ? TransportButton::Sign::Pause : TransportButton::Sign::Play,
                    m_isPlaying ? tr("Pause the film") : tr("Play the film"));
}

void FilmBar::playOn() {
    const int ticks = m_context.theme.reducesMotion() ? kTicksWithoutMotion : kTicksPerChange;
    if (!m_isPlaying || !m_view.isShowing() || ++m_ticks < ticks)
        return;
    m_ticks = 0;
    goTo(m_place + std::max(1, count() / kMostStopsOfFilm));
    if (m_place + 1 == count())
        setPlaying(false);
}

void FilmBar::askForStrip() {
    auto* dialog = new QFileDialog(window(), tr("Save the film as a PNG strip"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("png"));
    dialog->setNameFilter(QStringLiteral("PNG (*.png)"));
    dialog->selectFile(m_view.info().id + QStringLiteral("-strip.png"));
    connect(dialog, &QFileDialog::fileSelected, this, &FilmBar::saveStrip);
    dialog->open();
}

void FilmBar::saveStrip(const QString& path) {
    FilmStrip strip(m_context.theme, m_view.figure());
    const std::optional<QString> problem = savePng(strip, path, strip.scale());
    m_outcome->setText(problem ? *problem : tr("Saved as %1.").arg(QDir::toNativeSeparators(path)));
    m_outcome->show();
}

/// The dialog keeps the film as it is now.
void FilmBar::showDialog() {
    const auto make = [&theme = m_context.theme, figure = m_view.figure()](int width) {
        return std::make_unique<ResultFilm>(theme, figure, width);
    };
    auto* dialog = new FilmDialog(m_context.theme, m_context.bridge, make, window());
    dialog->open();
}

} // namespace ui
