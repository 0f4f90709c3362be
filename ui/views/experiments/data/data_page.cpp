// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/data/data_page.h"

#include "ui/experiments/runs/run_picture.h"
#include "ui/plots/figure_table.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/theme/tip_text.h"
#include "ui/views/experiments/page/plain_table.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QStyle>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kMostPrompts = 1'000'000;
constexpr int kMostTokens = 8192;
constexpr int kUsualTokens = 128;
constexpr int kUsualPerTask = 20;
constexpr std::size_t kShownProblems = 6;
constexpr double kSideBySide = 620.0;  ///< pixels: a narrower page has the preview below the form
constexpr double kLeastPreview = 90.0; ///< pixels of height

const QString kFileTask = QStringLiteral("\u0001file"); ///< no column is called so

QString titleFor(const QStringList& paths) {
    if (paths.isEmpty())
        return {};
    const QString name = QFileInfo(paths.front()).completeBaseName();
    return paths.size() == 1 ? name
                             : DataPage::tr("%1 and %2 more").arg(name).arg(paths.size() - 1);
}

/// A folder may hold tables, too.
bool mayBeTable(const QString& path) {
    return QFileInfo(path).isDir() ||
           engine::dataFormatOf(path.toStdString()) == engine::DataFormat::Table;
}

} // namespace

DataPage::DataPage(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_scan(new DataScan(this)) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    build();
    connect(m_scan, &DataScan::layoutProposed, this, &DataPage::takeLayout);
    connect(m_scan, &DataScan::previewCame, this, &DataPage::takePreview);
    connect(m_scan, &DataScan::failed, this, [this](const QString& sentence) {
        m_problem = sentence;
        m_isWhole = false;
        showState();
    });
    connect(&theme, &Theme::changed, this, &DataPage::restyle);
    restyle();
    showState();
}

QWidget* DataPage::buildForm() {
    auto* form = new QWidget;
    form->setAttribute(Qt::WA_StyledBackground);
    form->setProperty("ground", QStringLiteral("panel"));
    m_grid = new QGridLayout(form);
    int line = 0;
    const auto add = [&](const QString& name, QWidget* field, const QString& accessible) {
        auto* label = new QLabel(name);
        label->setBuddy(field);
        field->setAccessibleName(accessible);
        m_grid->addWidget(label, line, 0);
        m_grid->addWidget(field, line++, 1);
        return label;
    };
    const auto number = [](int low, int high, int value) {
        auto* box = new QSpinBox;
        box->setRange(low, high);
        box->setValue(value);
        return box;
    };
    m_title = new QLineEdit;
    m_prompt = new QComboBox;
    m_task = new QComboBox;
    m_reference = new QComboBox;
    m_order = new QComboBox;
    m_order->addItem(tr("by task"), int(engine::DataOrder::ByTask));
    m_order->addItem(tr("shuffled"), int(engine::DataOrder::Shuffled));
    m_order->addItem(tr("drift: tasks fade into each other"), int(engine::DataOrder::Drift));
    m_order->addItem(tr("as in the files"), int(engine::DataOrder::AsIs));
    m_perTask = number(0, kMostPrompts, kUsualPerTask);
    m_perTask->setSpecialValueText(tr("all"));
    m_total = number(0, kMostPrompts, 0);
    m_total->setSpecialValueText(tr("all"));
    m_total->setToolTip(tr("Each task gives one prompt in turn until there are so many"));
    m_seed = number(0, kMostPrompts, 1);
    m_maxTokens = number(1, kMostTokens, kUsualTokens);
    m_decoder = new QComboBox;
    m_profile = new QComboBox;
    add(tr("Name"), m_title, tr("Name of the experiment"));
    m_files = plainLabel(form, true);
    m_files->setProperty("tone", "small");
    m_grid->addWidget(m_files, line++, 1);
    m_tryExamples = new QPushButton(tr("Try the examples"));
    m_tryExamples->setProperty("form", QStringLiteral("small"));
    m_tryExamples->setToolTip(tr("Prompts of several tasks that come with the program"));
    m_tryExamples->hide();
    m_grid->addWidget(m_tryExamples, line++, 1, Qt::AlignLeft);
    m_hasHeader = new QCheckBox(tr("First row names the columns"));
    m_hasHeader->setToolTip(tr("For tables: clear it where the first row is a prompt already"));
    m_grid->addWidget(m_hasHeader, line++, 1);
    add(tr("Prompt"), m_prompt, tr("Column of the prompts"));
    add(tr("Task"), m_task, tr("Where the task of a prompt is found"));
    add(tr("Reference"), m_reference, tr("Column of the reference answers"));
    add(tr("Order"), m_order, tr("Order of the prompts"));
    add(tr("Prompts per task"), m_perTask, tr("Most prompts of each task"));
    add(tr("Prompts in all"), m_total, tr("Most prompts of all tasks together"));
    add(tr("Seed of the order"), m_seed, tr("Seed of the order"));
    add(tr("Answers up to"), m_maxTokens, tr("Most tokens of an answer"));
    showTokenUnit(*m_maxTokens);
    add(tr("Decoder"), m_decoder, tr("Decoder that answers beside vanilla"));
    m_profileName = add(tr("Profile"), m_profile, tr("Profile of the decoder"));
    m_costNote = plainLabel(form, true);
    m_costNote->setProperty("tone", QStringLiteral("small"));
    m_estimate = new QPushButton(tr("Estimate"));
    m_estimate->setProperty("form", QStringLiteral("small"));
    m_estimate->setAccessibleName(tr("Estimate how long the experiment takes"));
    m_grid->addWidget(new QLabel(tr("Will take")), line, 0, Qt::AlignTop);
    m_grid->addWidget(m_costNote, line++, 1);
    m_grid->addWidget(m_estimate, line++, 1, Qt::AlignLeft);
    m_grid->setColumnStretch(1, 1);
    m_grid->setRowStretch(line, 1);
    return form;
}

void DataPage::build() {
    auto* scroll = new ColumnScroll;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(buildForm());
    m_state = plainLabel(this, true);
    m_bad = plainLabel(this, true);
    m_bad->setProperty("tone", "problem");
    m_rows = new FigureTableModel(this);
    m_table = new PlainTable(m_theme, TextRole::Small);
    m_table->setModel(m_rows);
    m_table->setAccessibleName(tr("The first prompts"));
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_run = new QPushButton(tr("Run"));
    m_run->setProperty("kind", QStringLiteral("primary"));
    m_add = new QPushButton(tr("Add to queue"));
    auto* others = new QPushButton(tr("Other files..."));
    m_recipe = new QPushButton(tr("Use for a recipe"));
    m_recipe->setToolTip(tr("Recipes run on these prompts from now on"));
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_run);
    buttons->addWidget(m_add);
    buttons->addWidget(others);
    buttons->addWidget(m_recipe);
    buttons->addStretch(1);
    auto* preview = new QWidget;
    auto* side = new QVBoxLayout(preview);
    side->setContentsMargins(0, 0, 0, 0);
    side->addWidget(m_state);
    side->addWidget(m_table, 1);
    side->addWidget(m_bad);
    m_parts = new QSplitter;
    m_parts->setChildrenCollapsible(false);
    m_parts->addWidget(scroll);
    m_parts->addWidget(preview);
    m_parts->setStretchFactor(1, 1);
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_parts, 1);
    column->addLayout(buttons);
    for (QComboBox* box : {m_prompt, m_task, m_reference})
        connect(box, &QComboBox::activated, this, &DataPage::readAgain);
    connect(m_hasHeader, &QCheckBox::clicked, this, &DataPage::proposeAgain);
    connect(m_decoder, &QComboBox::currentIndexChanged, this, &DataPage::showProfiles);
    for (QSpinBox* box : {m_perTask, m_total}) {
        connect(box, &QSpinBox::valueChanged, this, &DataPage::showState);
        connect(box, &QSpinBox::valueChanged, this, &DataPage::forgetCost);
    }
    for (QSpinBox* box : {m_seed, m_maxTokens})
        connect(box, &QSpinBox::valueChanged, this, &DataPage::forgetCost);
    for (QComboBox* box : {m_order, m_decoder, m_profile})
        connect(box, &QComboBox::currentIndexChanged, this, &DataPage::forgetCost);
    connect(m_estimate, &QPushButton::clicked, this, [this] {
        tellCost(tr("being estimated"), false);
        emit estimateAsked(choice());
    });
    connect(m_run, &QPushButton::clicked, this, [this] { emit runAsked(choice()); });
    connect(m_add, &QPushButton::clicked, this, [this] { emit addAsked(choice()); });
    connect(others, &QPushButton::clicked, this, &DataPage::otherFilesAsked);
    connect(m_tryExamples, &QPushButton::clicked, this, &DataPage::examplesAsked);
    connect(m_recipe, &QPushButton::clicked, this, [this] {
        emit recipeDataWanted(m_paths, layoutChosen());
    });
    setDecoders({});
}

void DataPage::resizeEvent(QResizeEvent*) {
    const auto way = width() < m_theme.scaled(kSideBySide) ? Qt::Vertical : Qt::Horizontal;
    if (way == m_parts->orientation())
        return;
    m_parts->setOrientation(way);
    if (way == Qt::Vertical)
        m_parts->setSizes({3 * height(), 2 * height()}); // it keeps their ratio
}

void DataPage::setExamples(const QString& folder) {
    m_examples = folder;
    m_tryExamples->setVisible(!folder.isEmpty() && !areExamples());
}

void DataPage::open(const QStringList& paths) {
    m_paths = paths;
    m_tryExamples->setVisible(!m_examples.isEmpty() && !areExamples());
    m_title->setText(areExamples() ? tr("Examples") : titleFor(paths));
    QStringList names;
    for (const QString& path : paths)
        names << QFileInfo(path).fileName();
    m_files->setText(names.join(QStringLiteral(", ")));
    setTip(*m_files, paths.join(u'\n'));
    m_hasHeader->setVisible(std::ranges::any_of(paths, mayBeTable));
    forget();
    m_scan->open(paths);
}

/// What was read before.
void DataPage::forget() {
    m_problem.clear();
    m_preview.reset();
    m_isWhole = false;
    m_rows->setTable({});
    forgetCost();
    showState();
}

/// Without a model nobody has named the decoders; these are always there.
void DataPage::setDecoders(const std::vector<engine::DecoderInfo>& decoders) {
    const QString before = m_decoder->currentData().toString();
    m_decoders.clear();
    for (const engine::DecoderInfo& decoder : decoders)
        if (decoder.name != "vanilla")
            m_decoders.push_back(decoder);
    if (m_decoders.empty())
        for (const char* name : {"auto", "swift", "lookup"}) {
            engine::DecoderInfo decoder;
            decoder.name = name;
            decoder.title = readableTitle(QLatin1String(name)).toStdString();
            m_decoders.push_back(decoder);
        }
    m_decoder->clear();
    for (const engine::DecoderInfo& decoder : m_decoders)
        m_decoder->addItem(QString::fromStdString(decoder.title),
                           QString::fromStdString(decoder.name));
    // Most people open their prompts to see which layers these can do without. SWIFT finds that
    // out.
    const int place = m_decoder->findData(before.isEmpty() ? QStringLiteral("swift") : before);
    m_decoder->setCurrentIndex(std::max(0, place));
    showProfiles();
}

void DataPage::showProfiles() {
    const auto place = static_cast<std::size_t>(std::max(0, m_decoder->currentIndex()));
    m_profile->clear();
    if (place < m_decoders.size())
        for (const engine::SettingProfile& profile : m_decoders[place].profiles)
            m_profile->addItem(QString::fromStdString(profile.name),
                               QString::fromStdString(profile.name));
    m_profile->setVisible(m_profile->count() > 1);
    m_profileName->setVisible(m_profile->count() > 1);
}

void DataPage::takeLayout(const engine::DataLayout& layout) {
    m_layout = layout;
    m_hasHeader->setChecked(layout.hasHeader);
}

void DataPage::takePreview(const DataScan::Preview& preview, bool isWhole) {
    m_preview = preview;
    m_isWhole = isWhole;
    fillFields();
    FigureTable table;
    table.header = {tr("Task"), tr("Prompt"), tr("Reference")};
    for (const engine::DataPrompt& prompt : preview->first) {
        const engine::DataRecord& record = prompt.record;
        table.rows.push_back(
            {QString::fromStdString(record.task),
             QString::fromStdString(record.turns.empty() ? std::string() : record.turns.front())
                 .simplified(),
             QString::fromStdString(record.references.empty() ? std::string()
                                                              : record.references.front())
                 .simplified()});
    }
    m_rows->setTable(std::move(table));
    m_table->setColumnHidden(2, m_reference->currentData().toString().isEmpty());
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch); // what is seen now
    forgetCost();
    showState();
}

void DataPage::fillFields() {
    const auto fill = [this](QComboBox* box, const std::string& chosen, bool isOptional) {
        box->clear();
        if (isOptional)
            box->addItem(tr("none"), QString());
        for (const engine::DataField& field : m_preview->fields)
            box->addItem(QString::fromStdString(field.name), QString::fromStdString(field.name));
        int place = box->findData(QString::fromStdString(chosen));
        if (place < 0 && !isOptional && m_preview->fields.empty()) {
            box->addItem(tr("the whole text"), QString::fromStdString(chosen));
            place = 0;
        }
        box->setCurrentIndex(std::max(place, isOptional ? 0 : -1));
        box->setEnabled(box->count() > 1);
    };
    fill(m_prompt, m_layout.prompt, false);
    fill(m_reference, m_layout.reference, true);
    m_task->clear();
    m_task->addItem(tr("name of the file"), kFileTask);
    for (const engine::DataField& field : m_preview->fields)
        m_task->addItem(tr("column %1").arg(QString::fromStdString(field.name)),
                        QString::fromStdString(field.name));
    const int place = m_layout.taskSource == engine::TaskSource::Field
                          ? m_task->findData(QString::fromStdString(m_layout.task))
                          : 0;
    m_task->setCurrentIndex(std::max(0, place));
    m_task->setEnabled(m_task->count() > 1);
}

engine::DataLayout DataPage::layoutChosen() const {
    engine::DataLayout layout = m_layout;
    layout.prompt = m_prompt->currentData().toString().toStdString();
    layout.reference = m_reference->currentData().toString().toStdString();
    const QString task = m_task->currentData().toString();
    layout.taskSource = task == kFileTask ? engine::TaskSource::File : engine::TaskSource::Field;
    if (task != kFileTask)
        layout.task = task.toStdString();
    return layout;
}

void DataPage::readAgain() {
    m_layout = layoutChosen();
    m_problem.clear();
    m_isWhole = false;
    forgetCost();
    showState();
    m_scan->read(m_paths, m_layout);
}

/// The columns have other names now.
void DataPage::proposeAgain(bool hasHeader) {
    forget();
    m_scan->open(m_paths, hasHeader);
}

bool DataPage::canRun() const {
    return m_problem.isEmpty() && m_preview != nullptr && m_preview->prompts > 0;
}

qint64 DataPage::promptsUsed() const {
    const qint64 perTask = m_perTask->value();
    qint64 used = m_preview->prompts; // those of tasks that are not listed may all be used
    for (const auto& [task, count] : m_preview->tasks)
        used -= perTask == 0 ? 0 : std::max<qint64>(count - perTask, 0);
    return m_total->value() == 0 ? used : std::min<qint64>(used, m_total->value());
}

void DataPage::forgetCost() {
    emit costForgotten();
    const QString count =
        canRun() ? countText(promptsUsed(), tr("1 prompt"), tr("%1 prompts")) : QString();
    tellCost(canRun() ? tr("%1. The time is not known yet: the estimate reads the model and "
                           "measures it for some seconds.")
                            .arg(count)
                      : tr("not known yet"),
             false);
}

void DataPage::tellCost(const QString& text, bool isError) {
    m_costNote->setText(text);
    m_costNote->setProperty("tone", isError ? "problem" : "small");
    m_costNote->style()->unpolish(m_costNote);
    m_costNote->style()->polish(m_costNote);
}

void DataPage::showState() {
    QString text;
    QStringList bad;
    if (!m_problem.isEmpty()) {
        text = m_problem;
    } else if (m_preview == nullptr) {
        text = tr("Reading the files.");
    } else {
        const QString used = numberText(promptsUsed());
        const bool isMost = m_preview->hasMoreTasks && m_perTask->value() > 0;
        text = tr("%1 of %2 in %3")
                   .arg(isMost ? tr("at most %1").arg(used) : used,
                        countText(m_preview->prompts, tr("1 prompt"), tr("%1 prompts")),
                        tasksText(*m_preview));
        if (!m_isWhole)
            text = tr("%1, %2 % read")
                       .arg(text, QString::number(static_cast<int>(m_preview->part * 100.0)));
        if (m_preview->prompts == 0 && m_isWhole)
            text = tr("There is no prompt in these files. Choose another column.");
        for (const engine::DataProblem& problem : m_preview->problems)
            if (static_cast<std::size_t>(bad.size()) < kShownProblems)
                bad << (problem.line > 0
                            ? QFileInfo(QString::fromStdString(problem.file)).fileName() +
                                  QStringLiteral(", ") + QString::fromStdString(problem.message)
                            : QString::fromStdString(problem.message));
        if (m_preview->badLines > static_cast<std::int64_t>(bad.size()))
            bad << tr("%1 in all are left out")
                       .arg(countText(m_preview->badLines, tr("1 line"), tr("%1 lines")));
    }
    m_state->setText(text);
    setTextColour(*m_state, m_problem.isEmpty() ? m_theme.colours().text : m_theme.colours().error);
    m_bad->setText(bad.join(u'\n'));
    m_bad->setVisible(!bad.isEmpty());
    for (QPushButton* button : {m_run, m_add, m_recipe, m_estimate})
        button->setEnabled(canRun());
}

StreamChoice DataPage::choice() const {
    StreamChoice choice;
    choice.title =
        m_title->text().trimmed().isEmpty() ? titleFor(m_paths) : m_title->text().trimmed();
    for (const QString& path : m_paths)
        choice.data.paths.push_back(path.toStdString());
    choice.data.layout = layoutChosen();
    if (m_perTask->value() > 0)
        choice.data.limits.perTask = m_perTask->value();
    if (m_total->value() > 0)
        choice.data.limits.total = m_total->value();
    choice.data.order = static_cast<engine::DataOrder>(m_order->currentData().toInt());
    choice.data.seed = static_cast<std::uint64_t>(m_seed->value());
    choice.maxTokens = m_maxTokens->value();
    choice.decoder = m_decoder->currentData().toString().toStdString();
    if (m_profile->count() > 1)
        choice.settings["profile"] = {m_profile->currentData().toString().toStdString()};
    return choice;
}

void DataPage::restyle() {
    const int side = m_theme.scaled(12);
    layout()->setContentsMargins(side, side, side, side);
    layout()->setSpacing(side);
    m_grid->setContentsMargins(0, 0, side, 0);
    m_grid->setHorizontalSpacing(side);
    m_grid->setVerticalSpacing(m_theme.scaled(8));
    // In a small window every column is seen, its texts cut.
    m_table->horizontalHeader()->setMinimumSectionSize(m_theme.scaled(24));
    m_table->setMinimumHeight(m_theme.scaled(kLeastPreview));
    showState();
}

} // namespace ui
