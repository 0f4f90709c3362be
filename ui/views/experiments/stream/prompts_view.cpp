// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/stream/prompts_view.h"

#include "ui/icons/icons.h"
#include "ui/shell/figure_text.h"
#include "ui/views/experiments/page/plain_table.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kWidthForOneRow = 1150;     ///< pixels at 100 %
constexpr double kCellRoom = 36.0;        ///< beside the text of a column
constexpr double kLeastText = 180.0;      ///< pixels at 100 % for the text of a prompt
constexpr std::size_t kLongestShare = 10; ///< a tenth of the answers are the longest ones

/// The number of tokens from which on an answer is one of the longest.
long longestFrom(const std::vector<PromptRow>& rows) {
    std::vector<long> lengths;
    for (const PromptRow& row : rows)
        lengths.push_back(row.tokens);
    std::ranges::sort(lengths, std::greater());
    return lengths.empty() ? 0 : lengths[(lengths.size() - 1) / kLongestShare];
}

} // namespace

PromptsView::PromptsView(const ViewContext& context, QWidget* parent)
    : RunView(
          context,
          {QStringLiteral("prompts"),
           tr("Prompts"),
           tr("Every prompt that was answered, with its figures. The field takes conditions "
              "such as \"task = math and acceptance < .8\"; the rows that the table shows are "
              "what is written into the CSV file, and a skip set can be searched for them. Enter "
              "or a double click opens the answers to a prompt."),
           {}},
          parent)
    , m_prompts(new PromptTableModel(this))
    , m_slice(new SliceModel(*m_prompts, this)) {
    build();
    connect(m_field, &QLineEdit::textChanged, this, &PromptsView::useText);
    connect(m_search, &QPushButton::clicked, this, [this] {
        std::vector<int> prompts;
        for (const PromptRow& row : m_slice->shownRows())
            prompts.push_back(row.prompt);
        std::ranges::sort(prompts);
        emit searchAsked(m_field->text(), prompts);
    });
    connect(m_export, &QPushButton::clicked, this, &PromptsView::exportAsked);
    connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
        emit answerAsked(
            m_prompts->rows()[static_cast<std::size_t>(m_slice->mapToSource(index).row())].prompt);
    });
    connect(&context.theme, &Theme::changed, this, &PromptsView::restyle);
    restyle();
    showPicture();
}

void PromptsView::build() {
    m_field = new QLineEdit(this);
    m_field->setPlaceholderText(tr("task = math and acceptance < .8"));
    m_field->setAccessibleName(tr("Slice of the prompts"));
    m_field->setClearButtonEnabled(true);
    m_icon = m_field->addAction(QIcon(), QLineEdit::LeadingPosition);
    m_search = new QPushButton(tr("Search a set for this slice"), this);
    m_search->setToolTip(tr("Searches a skip set on the prompts that the table shows, and measures "
                            "it on them"));
    m_export = new QPushButton(tr("Export CSV..."), this);
    for (QPushButton* button : {m_search, m_export})
        button->setProperty("form", QStringLiteral("small"));
    m_problem = plainLabel(this, true);
    m_problem->setProperty("tone", "problem");
    m_table = new PlainTable(theme(), TextRole::Small, this);
    m_table->setModel(m_slice);
    m_table->setAccessibleName(tr("Prompts of the slice"));
    m_table->setAccessibleDescription(tr("Enter opens the answers to a prompt"));
    m_table->setProperty("form", "sorted");
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(PromptTableModel::Prompt, Qt::AscendingOrder);
    m_table->horizontalHeader()->setSectionResizeMode(PromptTableModel::Text, QHeaderView::Stretch);
    m_chipRow = new QWidget(this);
    auto* chips = new QHBoxLayout(m_chipRow);
    chips->setContentsMargins(0, 0, 0, 0);
    chips->addStretch(1);
    m_tools = new QGridLayout;
    m_tools->addWidget(m_field, 0, 0);
    m_tools->addWidget(m_search, 0, 2);
    m_tools->addWidget(m_export, 0, 3);
    m_tools->setColumnStretch(0, 2);
    m_tools->setColumnStretch(1, 1);
    placeChips();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_tools);
    column->addWidget(m_problem);
    column->addWidget(m_table, 1);
}

/// As wide as the tasks of the run need it, within bounds.
void PromptsView::fitTasks() {
    const QFontMetrics metrics(theme().font(TextRole::Small));
    int widest = metrics.horizontalAdvance(tr("Task"));
    if (picture() != nullptr)
        for (const engine::TaskFigures& task : picture()->progress.tasks)
            widest = std::max(widest, metrics.horizontalAdvance(QString::fromStdString(task.task)));
    const int most = metrics.horizontalAdvance(QStringLiteral("Question answering"));
    m_widths[PromptTableModel::Task] = std::min(widest, most) + theme().scaled(kCellRoom);
    m_table->setColumnWidth(PromptTableModel::Task, m_widths[PromptTableModel::Task]);
    fitColumns();
}

std::vector<std::pair<QString, QString>>
PromptsView::chipsFor(const std::vector<PromptRow>& rows) const {
    return {{tr("all"), QString()},
            {tr("slower than vanilla"), QStringLiteral("speed < 1")},
            {tr("half rejected"), QStringLiteral("acceptance < .5")},
            {tr("longest answers"), QStringLiteral("tokens >= %1").arg(longestFrom(rows))}};
}

void PromptsView::showPicture() {
    m_prompts->setRows(picture() != nullptr ? picture()->rows : std::vector<PromptRow>());
    fitTasks();
    showCounts();
}

void PromptsView::showCounts() {
    const std::vector<PromptRow>& rows = m_prompts->rows();
    const auto wanted = chipsFor(rows);
    while (m_chips.size() < wanted.size()) {
        auto* button = new QPushButton(this);
        button->setCheckable(true);
        button->setProperty("form", QStringLiteral("small"));
        auto* row = static_cast<QHBoxLayout*>(m_chipRow->layout());
        row->insertWidget(row->count() - 1, button);
        const std::size_t place = m_chips.size();
        connect(button, &QPushButton::clicked, this, [this, place] {
            setSlice(m_chips[place].slice);
            showCounts();
        });
        m_chips.push_back({button, {}, {}});
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        Chip& chip = m_chips[i];
        chip.slice = wanted[i].second;
        const PromptSlice slice = PromptSlice::parse(chip.slice).slice;
        const auto count =
            std::ranges::count_if(rows, [&](const PromptRow& row) { return slice.contains(row); });
        chip.button->setText(
            QStringLiteral("%1 \u00B7 %2").arg(wanted[i].first, numberText(count)));
        chip.button->setChecked(m_field->text().trimmed() == chip.slice);
        chip.button->setEnabled(count > 0 || i == 0);
    }
    const auto shown = m_slice->rowCount();
    QString answered =
        rows.empty() ? tr("none is answered yet")
        : m_slice->slice().isEmpty()
            ? countText(static_cast<qint64>(rows.size()), tr("1 answered"), tr("%1 answered"))
            : tr("%1 of %2 in this slice")
                  .arg(numberText(shown), numberText(static_cast<qint64>(rows.size())));
    if (const auto unsteady = std::ranges::count_if(rows, &PromptRow::isUnsteady))
        answered +=
            QStringLiteral("; ") +
            countText(unsteady,
                      tr("1 has no speed, because vanilla's own changed by more than 5 %"),
                      tr("%1 have no speed, because vanilla's own changed by more than 5 %"));
    setSubtitle(answered);
    placeChips();
    // What is searched is called like the condition, so it must be the one that the table shows.
    m_search->setEnabled(shown > 0 && m_problem->text().isEmpty());
    m_export->setEnabled(shown > 0);
}

void PromptsView::setSlice(const QString& text) { m_field->setText(text); }

/// What cannot be understood yet leaves the rows as they are.
void PromptsView::useText() {
    const PromptSlice::Parsed parsed = PromptSlice::parse(m_field->text());
    m_problem->setText(parsed.problem);
    m_problem->setVisible(!parsed.problem.isEmpty());
    if (parsed.problem.isEmpty())
        m_slice->setSlice(parsed.slice);
    showCounts();
}

void PromptsView::showPrompt(int prompt) {
    for (int row = 0; row < m_slice->rowCount(); ++row) {
        const QModelIndex index = m_slice->index(row, PromptTableModel::Prompt);
        if (index.data().toInt() != prompt)
            continue;
        m_table->selectRow(row);
        m_table->scrollTo(index);
        return;
    }
}

void PromptsView::restyle() {
    const Theme& theme = this->theme();
    const int gap = theme.scaled(8);
    m_tools->setContentsMargins(
        theme.scaled(12), theme.scaled(6), theme.scaled(12), theme.scaled(6));
    m_tools->setHorizontalSpacing(gap);
    m_tools->setVerticalSpacing(theme.scaled(6));
    m_chipRow->layout()->setSpacing(theme.scaled(6));
    placeChips();
    m_field->setFont(theme.font(TextRole::Figure));
    m_field->setMinimumWidth(theme.scaled(120));
    m_icon->setIcon(makeIcon(IconName::Search, theme.colours().muted, theme.colours().disabled));
    m_problem->setContentsMargins(theme.scaled(12), 0, theme.scaled(12), theme.scaled(4));
    m_problem->setVisible(!m_problem->text().isEmpty());
    const QFontMetrics metrics(theme.font(TextRole::Small));
    // For the title in the window's language, and for the widest usual text below it.
    const auto fit = [&](PromptTableModel::Column column, const QString& widest) {
        const QString title =
            m_prompts->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        m_widths[static_cast<std::size_t>(column)] =
            std::max(metrics.horizontalAdvance(title), metrics.horizontalAdvance(widest)) +
            theme.scaled(kCellRoom);
    };
    fit(PromptTableModel::Prompt, {});
    fit(PromptTableModel::Tokens, {});
    fit(PromptTableModel::M, QStringLiteral("00.00"));
    fit(PromptTableModel::Accepted, {});
    fit(PromptTableModel::Acceptance, {});
    fit(PromptTableModel::Speed, QStringLiteral("00.00x"));
    fit(PromptTableModel::DraftedBy, tr("plain steps after token %1").arg(128));
    for (int column = 0; column < PromptTableModel::ColumnCount; ++column)
        if (column != PromptTableModel::Text)
            m_table->setColumnWidth(column, m_widths[static_cast<std::size_t>(column)]);
    fitTasks();
}

/// Where the text would be cut short, columns that tell the least leave; the answers to a prompt
/// and the table of this view still have them.
void PromptsView::fitColumns() {
    static constexpr std::array kLeaving = {PromptTableModel::DraftedBy,
                                            PromptTableModel::Accepted,
                                            PromptTableModel::Tokens,
                                            PromptTableModel::M,
                                            PromptTableModel::Acceptance};
    int room = m_table->viewport()->width() - theme().scaled(kLeastText);
    for (int column = 0; column < PromptTableModel::ColumnCount; ++column)
        if (column != PromptTableModel::Text)
            room -= m_widths[static_cast<std::size_t>(column)];
    for (const auto column : kLeaving) {
        m_table->setColumnHidden(column, room < 0);
        if (room < 0)
            room += m_widths[static_cast<std::size_t>(column)];
        else
            m_table->setColumnWidth(column, m_widths[static_cast<std::size_t>(column)]);
    }
}

int PromptsView::neighbourOf(int prompt, int direction) const {
    const std::vector<PromptRow> shown = m_slice->shownRows();
    const auto found = std::ranges::find(shown, prompt, &PromptRow::prompt);
    const auto place = found - shown.begin() + direction;
    return found == shown.end() || place < 0 || place >= std::ssize(shown)
               ? 0
               : shown[static_cast<std::size_t>(place)].prompt;
}

void PromptsView::placeChips() {
    m_tools->removeWidget(m_chipRow);
    if (width() >= theme().scaled(kWidthForOneRow))
        m_tools->addWidget(m_chipRow, 0, 1);
    else
        m_tools->addWidget(m_chipRow, 1, 0, 1, 4);
    int room = width() - 2 * theme().scaled(12);
    for (const Chip& chip : m_chips) { // those that are whole; the field takes the others
        room -= chip.button->sizeHint().width();
        chip.button->setVisible(room >= 0);
        room -= m_chipRow->layout()->spacing();
    }
}

void PromptsView::resizeEvent(QResizeEvent* event) {
    RunView::resizeEvent(event);
    placeChips();
    fitColumns();
}

QSize PromptsView::sizeHint() const { return {theme().scaled(640), theme().scaled(220)}; }

QSize PromptsView::minimumSizeHint() const { return {theme().scaled(320), theme().scaled(190)}; }

} // namespace ui
