// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/options/prompts_choice.h"

#include "ui/shell/figure_text.h"

#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace ui {

PromptsChoice::PromptsChoice(const Theme& theme, QString examples, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_examples(std::move(examples))
    , m_scan(new DataScan(this))
    , m_note(plainLabel(this, true))
    , m_useExamples(new QPushButton(tr("Use the examples"))) {
    m_note->setProperty("tone", QStringLiteral("small"));
    m_note->ensurePolished(); // also while the form is hidden
    auto* choose = new QPushButton(tr("Choose the prompts..."));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_note);
    for (QPushButton* button : {choose, m_useExamples}) {
        button->setProperty("form", QStringLiteral("small"));
        column->addWidget(button, 0, Qt::AlignLeft);
    }
    connect(choose, &QPushButton::clicked, this, &PromptsChoice::filesAsked);
    connect(m_useExamples, &QPushButton::clicked, this, &PromptsChoice::examplesAsked);
    connect(m_scan, &DataScan::layoutProposed, this, [this](const engine::DataLayout& layout) {
        m_layout = layout;
        emit obstacleChanged();
    });
    connect(m_scan, &DataScan::previewCame, this, &PromptsChoice::takePreview);
    connect(m_scan, &DataScan::failed, this, [this](const QString& problem) {
        m_problem = problem;
        showState();
        emit obstacleChanged();
    });
    connect(&theme, &Theme::changed, this, &PromptsChoice::restyle);
    restyle();
    setData({});
}

void PromptsChoice::setData(const QStringList& paths,
                            const std::optional<engine::DataLayout>& layout) {
    m_areExamples = paths.isEmpty() && !m_examples.isEmpty();
    m_data = m_areExamples ? QStringList(m_examples) : paths;
    m_layout = m_areExamples ? std::optional(engine::DataLayout()) : layout;
    m_preview.reset();
    m_problem.clear();
    if (!m_data.isEmpty() && m_layout)
        m_scan->read(m_data, *m_layout);
    else if (!m_data.isEmpty())
        m_scan->open(m_data);
    showState();
    emit obstacleChanged();
}

void PromptsChoice::takePreview(const DataScan::Preview& preview, bool isWhole) {
    m_preview = preview;
    const bool hasNone = isWhole && preview->prompts == 0;
    if (hasNone)
        m_problem = tr("No prompt was found in these files. Choose their columns with \"Open "
                       "data...\", then \"Use for a recipe\".");
    showState();
    emit previewCame();
    if (hasNone)
        emit obstacleChanged();
}

QString PromptsChoice::obstacle() const {
    if (m_data.isEmpty())
        return tr("Choose the prompts first.");
    if (!m_problem.isEmpty())
        return m_problem;
    return m_layout ? QString() : tr("Reading the files.");
}

QString PromptsChoice::sentence() const {
    if (m_data.isEmpty())
        return tr("None yet: JSONL, CSV, TSV, text files, or a folder of them.");
    if (!m_problem.isEmpty())
        return m_problem;
    if (m_areExamples)
        return m_preview == nullptr
                   ? tr("Example prompts, which come with the program. Your own show what your "
                        "texts gain.")
                   : tr("%1 example prompts of %2 tasks, which come with the program. Your own "
                        "show what your texts gain.")
                         .arg(numberText(m_preview->prompts),
                              numberText(static_cast<qint64>(m_preview->tasks.size())));
    QStringList names;
    for (const QString& path : m_data)
        names << QFileInfo(path).fileName();
    const QString text = names.join(QStringLiteral(", "));
    if (m_preview == nullptr)
        return text;
    return tr("%1: %2, %3")
        .arg(text,
             countText(m_preview->prompts, tr("1 prompt"), tr("%1 prompts")),
             tasksText(*m_preview));
}

void PromptsChoice::showState() {
    m_note->setText(sentence());
    m_useExamples->setVisible(!m_examples.isEmpty() && !m_areExamples);
}

void PromptsChoice::restyle() { layout()->setSpacing(m_theme.scaled(6)); }

} // namespace ui
