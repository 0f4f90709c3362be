// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/lens/lens_cell_panel.h"

#include "ui/origin/token_mark.h"
#include "ui/shell/figure_text.h"

#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTableWidget>
#include <QVBoxLayout>

namespace ui {

using namespace engine;

namespace {

enum BestColumn { RankColumn, WordColumn, HereColumn, EndColumn };

constexpr int kBarRole = Qt::UserRole + 1; // a share, drawn as a bar below the number

/// A number with a bar of its share.
class BestDelegate : public QStyledItemDelegate {
public:
    BestDelegate(const Theme& theme, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_theme(theme) {}

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const QVariant share = index.data(kBarRole);
        if (!share.isValid())
            return;
        const int room = option.rect.width() - m_theme.scaled(8);
        const int height = m_theme.scaled(3);
        painter->fillRect(option.rect.left() + m_theme.scaled(4),
                          option.rect.bottom() - height,
                          static_cast<int>(share.toDouble() * room),
                          height,
                          m_theme.colours().heat[5]);
    }

private:
    const Theme& m_theme;
};

QTableWidgetItem* figureItem(const QString& text) {
    auto* item = new QTableWidgetItem(text);
    item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return item;
}

/// The probability that the model gave a token in the end, if it is among its best there.
QString inTheEnd(const LensToken& token, TokenId id) {
    const LensCell& last = token.cells.back();
    for (std::size_t i = 0; i < last.ids.size(); ++i)
        if (last.ids[i] == id)
            return shareText(last.probabilities[i]);
    return id == token.token ? shareText(last.probability) : QString();
}

} // namespace

LensCellPanel::LensCellPanel(const Theme& theme, const LensModel& model, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_model(model)
    , m_title(plainLabel(this, true))
    , m_subtitle(plainLabel(this, true))
    , m_best(new QTableWidget(0, 4, this))
    , m_branch(new QPushButton(tr("Branch"), this))
    , m_facts(plainLabel(this, true)) {
    m_title->setProperty("tone", "bold");
    m_subtitle->setProperty("tone", "small");
    m_facts->setProperty("tone", "small");
    m_best->setHorizontalHeaderLabels({tr("Rank"), tr("Token"), tr("Here"), tr("In the end")});
    m_best->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_best->horizontalHeaderItem(WordColumn)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_best->setAccessibleName(tr("The most probable tokens if the model stopped here"));
    m_best->verticalHeader()->hide();
    m_best->setShowGrid(false);
    m_best->setFrameShape(QFrame::NoFrame);
    m_best->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_best->setSelectionMode(QAbstractItemView::SingleSelection);
    m_best->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_best->setTabKeyNavigation(false);
    m_best->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_best->setItemDelegate(new BestDelegate(theme, m_best));
    m_best->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_best->horizontalHeader()->setSectionResizeMode(WordColumn, QHeaderView::Stretch);
    auto* rows = new QVBoxLayout(this);
    for (QWidget* part : std::initializer_list<QWidget*>{m_title, m_subtitle, m_best})
        rows->addWidget(part);
    rows->addWidget(m_branch, 0, Qt::AlignLeft);
    rows->addWidget(m_facts);
    connect(m_best, &QTableWidget::currentCellChanged, this, &LensCellPanel::showChoice);
    connect(m_branch, &QPushButton::clicked, this, [this] {
        if (const auto chosen = choice())
            emit branchAsked(m_place->token, *chosen);
    });
    connect(&theme, &Theme::changed, this, &LensCellPanel::restyle);
    restyle();
    showCell(std::nullopt);
}

void LensCellPanel::restyle() {
    m_best->verticalHeader()->setDefaultSectionSize(m_theme.scaled(26));
    m_best->horizontalHeader()->setFixedHeight(m_theme.scaled(24));
    m_best->setFixedHeight(m_theme.scaled(24) + LensCell::kTop * m_theme.scaled(26));
    const int side = m_theme.scaled(12);
    layout()->setContentsMargins(side, m_theme.scaled(8), side, m_theme.scaled(8));
    layout()->setSpacing(m_theme.scaled(6));
}

void LensCellPanel::showCell(std::optional<LensPlace> place) {
    m_place = place;
    for (QWidget* part : std::initializer_list<QWidget*>{m_best, m_branch, m_facts})
        part->setVisible(place.has_value());
    if (!place) {
        m_title->setText(tr("Cell"));
        m_subtitle->setText(tr("Choose a cell to see what the model would write there."));
        return;
    }
    m_title->setText(
        tr("\u201C%1\u201D, %2")
            .arg(shortTokenText(m_model.tokenText(place->token)), depthText(place->depth)));
    m_subtitle->setText(tr("If the model stopped here, it would write"));
    fillBest();
    m_facts->setText(unbrokenFigures(factsText()));
    showChoice();
}

void LensCellPanel::fillBest() {
    const LensToken& token = m_model.token(m_place->token);
    const LensCell& cell = m_model.cell(*m_place);
    m_best->clearContents();
    m_best->setRowCount(static_cast<int>(cell.ids.size()));
    for (std::size_t i = 0; i < cell.ids.size(); ++i) {
        const int row = static_cast<int>(i);
        const bool isFinal = cell.ids[i] == token.token;
        QString word = visibleTokenText(m_model.answer().textOf(cell.ids[i]));
        if (isFinal)
            word += tr(" ✓");
        auto* text = new QTableWidgetItem(word);
        text->setFont(m_theme.font(TextRole::Code));
        if (isFinal)
            text->setData(Qt::AccessibleTextRole, tr("%1, which was written").arg(word));
        QTableWidgetItem* here = figureItem(shareText(cell.probabilities[i]));
        here->setData(kBarRole, cell.probabilities[i]);
        m_best->setItem(row, RankColumn, figureItem(QString::number(row + 1)));
        m_best->setItem(row, WordColumn, text);
        m_best->setItem(row, HereColumn, here);
        m_best->setItem(row, EndColumn, figureItem(inTheEnd(token, cell.ids[i])));
    }
    const bool isWritten = !cell.ids.empty() && cell.ids.front() == token.token;
    m_best->setCurrentCell(isWritten && cell.ids.size() > 1 ? 1 : 0, WordColumn);
}

QString LensCellPanel::factsText() const {
    if (!m_place)
        return {};
    const LensCell& cell = m_model.cell(*m_place);
    QStringList lines;
    lines << tr("Rank of the written token here: %1, probability %2.")
                 .arg(cell.rank + 1)
                 .arg(shareText(cell.probability));
    if (m_place->depth > 0) {
        const LensCell& before = m_model.cell({m_place->token, m_place->depth - 1});
        const double gain = cell.probability - before.probability;
        const QString change = (gain < 0.0 ? tr("took %1 from it") : tr("added %1 to it"))
                                   .arg(shareText(std::abs(gain)));
        lines << (isBehindMlp(m_place->depth) ? tr("This MLP %1; before, its rank was %2.")
                                              : tr("This attention %1; before, its rank was %2."))
                     .arg(change)
                     .arg(before.rank + 1);
    }
    const int depth = m_model.token(m_place->token).finalDepth();
    lines << (depth < 0 ? tr("It does not lead in the end: it was drawn, or a setting of the "
                             "sampling decided.")
                        : tr("It is final %1.").arg(depthText(depth)));
    return lines.join('\n');
}

std::optional<TokenChoice> LensCellPanel::choice() const {
    const int row = m_best->currentRow();
    if (!m_place || row < 0)
        return std::nullopt;
    const LensCell& cell = m_model.cell(*m_place);
    const auto at = static_cast<std::size_t>(row);
    if (at >= cell.ids.size() || cell.ids[at] == m_model.token(m_place->token).token)
        return std::nullopt;
    const LensCell& last = m_model.token(m_place->token).cells.back();
    TokenChoice made{cell.ids[at], m_model.answer().textOf(cell.ids[at]).toStdString(), 0.0};
    for (std::size_t i = 0; i < last.ids.size(); ++i)
        if (last.ids[i] == made.id)
            made.probability = last.probabilities[i];
    return made;
}

void LensCellPanel::setObstacle(const QString& sentence) {
    if (sentence == m_obstacle)
        return;
    m_obstacle = sentence;
    showChoice();
}

void LensCellPanel::showChoice() {
    const auto chosen = choice();
    m_branch->setEnabled(chosen && m_obstacle.isEmpty());
    m_branch->setText(chosen ? tr("&Branch from \u201C%1\u201D")
                                   .arg(menuText(shortTokenText(
                                       visibleTokenText(QString::fromStdString(chosen->text)))))
                             : tr("This is what was written"));
    m_branch->setToolTip(
        m_obstacle.isEmpty()
            ? tr("Continues the answer with this token in a new branch of the chat.")
            : m_obstacle);
}

} // namespace ui
