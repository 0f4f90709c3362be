// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/report_page.h"

#include "ui/shell/docks/dock_title.h"
#include "ui/views/experiments/page/shard_grid.h"
#include "ui/views/experiments/report/figure_view.h"
#include "ui/views/experiments/report/film/film_bar.h"
#include "ui/views/experiments/report/film/running_film.h"
#include "ui/views/experiments/report/matrices/task_matrices.h"
#include "ui/views/experiments/report/origins_view.h"
#include "ui/views/experiments/report/result_section.h"
#include "ui/views/experiments/report/verdict_band.h"
#include "ui/views/models/figure_list.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

/// The measure that the recipe wants in a figure.
std::string figureMeasure(const RunPicture& picture, const std::string& id) {
    for (const engine::FigureWish& wish : picture.facts->recipe.figures)
        if (wish.id == id && !wish.y.empty())
            return wish.y.front();
    return {};
}

} // namespace

ReportPage::ReportPage(const ViewContext& context, ViewMenu& menu, QWidget* parent)
    : QScrollArea(parent)
    , m_context(context)
    , m_menu(menu)
    , m_content(new QWidget) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Result of the experiment"));
    build();
    setWidget(m_content);
    connect(&context.theme, &Theme::changed, this, &ReportPage::restyle);
    restyle();
    setPicture(nullptr);
}

void ReportPage::build() {
    const Theme& theme = m_context.theme;
    m_content->setProperty("ground", QStringLiteral("panel"));
    m_content->setAttribute(Qt::WA_StyledBackground);
    m_shards = new ShardGrid(m_context);
    m_waiting = plainLabel(m_content, true);
    m_waiting->setProperty("tone", "muted");
    m_verdict = new VerdictBand(theme);
    m_parts = new QVBoxLayout;
    m_originsRow = new QVBoxLayout;
    m_foot = new QWidget;
    auto* foot = new QVBoxLayout(m_foot);
    foot->setContentsMargins(0, 0, 0, 0);
    foot->setSpacing(0);
    foot->addWidget(new DockTitle(theme, tr("How it was measured"), nullptr));
    m_measured = new FigureList(theme, TextRole::Small);
    m_notes = plainLabel(m_foot, true);
    m_notes->setProperty("tone", "small");
    foot->addWidget(m_measured);
    foot->addWidget(m_notes);
    m_saveGrid = new QGridLayout;
    m_saves.push_back(new QLabel(tr("Save as"), m_foot));

    struct Named {
        ReportForm form;
        QString name;
    };

    for (const Named& named : {Named{ReportForm::Html, tr("HTML, one file...")},
                               Named{ReportForm::Markdown, tr("Markdown...")},
                               Named{ReportForm::Csv, tr("CSV tables...")},
                               Named{ReportForm::Latex, tr("LaTeX tables...")},
                               Named{ReportForm::Pdf, tr("PDF figures...")}}) {
        auto* button = new QPushButton(named.name, m_foot);
        button->setProperty("form", QStringLiteral("small"));
        m_saves.push_back(button);
        connect(button, &QPushButton::clicked, this, [this, form = named.form] {
            emit saveAsked(form);
        });
    }
    foot->addLayout(m_saveGrid);
    auto* column = new QVBoxLayout(m_content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_menu.titled(m_shards));
    column->addWidget(m_waiting);
    column->addWidget(m_verdict);
    column->addLayout(m_parts);
    column->addLayout(m_originsRow);
    column->addWidget(m_foot);
    column->addStretch(1);
}

void ReportPage::restyle() {
    const Theme& theme = m_context.theme;
    const int side = theme.scaled(12);
    m_measured->setContentsMargins(side, theme.scaled(8), side, theme.scaled(8));
    m_notes->setContentsMargins(side, 0, side, theme.scaled(8));
    m_waiting->setMargin(side); // of the label: a layout around it would keep it while it is hidden
    m_saveGrid->setContentsMargins(side, theme.scaled(8), side, theme.scaled(12));
    m_saveGrid->setSpacing(theme.scaled(8));
    placeSaves();
}

/// Side by side as far as the page is wide enough, so that they do not make it wider.
void ReportPage::placeSaves() {
    const int gap = m_saveGrid->spacing();
    int sum = 2 * m_saveGrid->contentsMargins().left();
    int widest = 0;
    for (const QWidget* save : m_saves) {
        sum += save->sizeHint().width() + gap;
        widest = std::max(widest, save->sizeHint().width());
    }
    const int room = viewport()->width();
    const int count = static_cast<int>(m_saves.size());
    const int fitting = (room - 2 * m_saveGrid->contentsMargins().left()) / (widest + gap);
    const int columns = sum <= room ? count : std::clamp(fitting, 1, count);
    for (int i = 0; i < count; ++i)
        m_saveGrid->addWidget(
            m_saves[static_cast<std::size_t>(i)], i / columns, i % columns, Qt::AlignLeft);
    for (int column = 0; column <= count; ++column)
        m_saveGrid->setColumnStretch(column, column == columns ? 1 : 0);
}

void ReportPage::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    placeSaves();
}

void ReportPage::setPicture(const RunPicturePtr& picture) {
    const bool isAnother =
        m_picture == nullptr || picture == nullptr || m_picture->folder != picture->folder;
    const std::size_t setsBefore = m_picture == nullptr ? 0 : m_picture->progress.plans.size();
    m_picture = picture;
    const bool hasRun = picture != nullptr && picture->facts != nullptr;
    const auto result = hasRun ? picture->result : nullptr;
    const bool isOpen = hasRun && (result == nullptr || !result->isComplete);
    m_shards->parentWidget()->setVisible(isOpen && picture->progress.shards.size() > 1);
    if (isOpen)
        m_shards->setShards(picture->progress.shards);
    const bool hasMoreSets = isOpen && (isAnother || picture->progress.plans.size() != setsBefore);
    if (hasMoreSets || !isOpen)
        m_film = isOpen ? runningFilm(*picture) : nullptr;
    m_waiting->setVisible(result == nullptr && m_film == nullptr);
    m_waiting->setText(hasRun ? tr("The first figures appear when the first part is finished.")
                              : tr("Figures and tables appear here once the run has begun."));
    m_verdict->setVisible(result != nullptr);
    m_foot->setVisible(result != nullptr);
    if (isAnother)
        verticalScrollBar()->setValue(0);
    ResultPtr known = result;
    if (known == nullptr)
        known = std::make_shared<engine::ExperimentResult>();
    if (result == m_shown && !isAnother) {
        if (hasMoreSets && m_film != nullptr)
            showFigures(known);
        return;
    }
    m_shown = result;
    showResult(known);
}

void ReportPage::showResult(const ResultPtr& result) {
    m_verdict->setVerdict(result->verdict);
    showFigures(result);
    showTables(*result);
    showOrigins(*result);
    showMeasured(*result);
}

/// The views stay while a result of the same figures grows. They share its figures: a film is long,
/// and another one comes with each new set.
void ReportPage::showFigures(const ResultPtr& result) {
    const std::vector<ResultFigurePtr> figures = sharedFigures(result, m_film);
    const bool isSame = std::ranges::equal(
        figures, m_figures, [](const ResultFigurePtr& figure, const FigureView* view) {
            return figure->id == view->figure().id && figure->title == view->figure().title &&
                   isTaskMatrix(*figure) == isTaskMatrix(view->figure()) &&
                   engine::isFilm(*figure) == engine::isFilm(view->figure());
        });
    if (!isSame)
        makeFigures(figures);
    else
        for (std::size_t i = 0; i < m_figures.size(); ++i)
            if (figures[i].get() != &m_figures[i]->figure())
                m_figures[i]->setFigure(figures[i]);
    if (m_matrices != nullptr)
        m_matrices->setFigures(figures);
}

/// Matrices of tasks stand together, where the first of them has its place.
void ReportPage::makeFigures(const std::vector<ResultFigurePtr>& figures) {
    for (FigureView* view : m_figures)
        delete view->parentWidget();
    m_figures.clear();
    delete std::exchange(m_matrices, nullptr);
    int place = 0;
    for (const ResultFigurePtr& figure : figures) {
        auto* view = new FigureView(m_context, figure);
        view->setOverlay(m_hasOverlay);
        m_figures.push_back(view);
        QWidget* part = m_menu.titled(view);
        if (engine::isFilm(*figure))
            part->layout()->addWidget(new FilmBar(m_context, *view, part));
        if (!isTaskMatrix(*figure)) {
            m_parts->insertWidget(place++, part);
            continue;
        }
        if (m_matrices == nullptr) {
            makeMatrices();
            m_parts->insertWidget(place++, m_matrices);
        }
        m_matrices->add(view, figureMeasure(*m_picture, figure->id));
    }
}

void ReportPage::makeMatrices() {
    m_matrices = new TaskMatrices(m_context.theme);
    connect(m_matrices, &TaskMatrices::runAsked, this, &ReportPage::runAsked);
    connect(m_matrices, &TaskMatrices::sightWanted, this, [this](const QRect& room) {
        const int middle = m_matrices->mapTo(m_content, room.center()).y();
        ensureVisible(0, middle, 0, room.height() / 2 + m_context.theme.scaled(12));
    });
}

void ReportPage::showTables(const engine::ExperimentResult& result) {
    const bool isSame = std::ranges::equal(
        result.tables, m_tables, [](const engine::ResultTable& table, ResultSection* section) {
            return table.id == section->id();
        });
    if (isSame) {
        for (std::size_t i = 0; i < m_tables.size(); ++i)
            m_tables[i]->setTable(result.tables[i]);
        return;
    }
    for (ResultSection* section : m_tables)
        delete section;
    m_tables.clear();
    for (const engine::ResultTable& table : result.tables) {
        m_tables.push_back(new ResultSection(m_context.theme, table));
        m_parts->addWidget(m_tables.back());
    }
}

void ReportPage::showOrigins(const engine::ExperimentResult& result) {
    if (result.origins.empty()) {
        if (m_origins != nullptr)
            delete m_origins->parentWidget();
        m_origins = nullptr;
        return;
    }
    if (m_origins == nullptr) {
        m_origins = new OriginsView(m_context);
        m_originsRow->addWidget(m_menu.titled(m_origins));
    }
    m_origins->setTexts(result.origins);
}

void ReportPage::showMeasured(const engine::ExperimentResult& result) {
    std::vector<FigureList::Row> rows;
    for (const auto& [name, value] : result.measured)
        rows.push_back({QString::fromStdString(name), QString::fromStdString(value)});
    m_measured->setRows(std::move(rows));
    QStringList notes;
    for (const std::string& note : result.notes)
        notes << QString::fromStdString(note);
    m_notes->setText(notes.join(u'\n'));
    m_notes->setVisible(!notes.isEmpty());
}

void ReportPage::setOverlay(bool isShown) {
    m_hasOverlay = isShown;
    for (FigureView* view : m_figures)
        view->setOverlay(isShown);
}

} // namespace ui
