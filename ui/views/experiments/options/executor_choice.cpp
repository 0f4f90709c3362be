// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/options/executor_choice.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QStandardItemModel>
#include <QStandardPaths>

namespace ui {

namespace {

constexpr int kHere = 0;
constexpr int kSlurm = 1;

} // namespace

QStringList sbatchWords(const QString& text) {
    QStringList words;
    for (const QString& word : QProcess::splitCommand(text)) {
        if (word.startsWith(u'-') || words.isEmpty())
            words << word;
        else
            words.last() += words.last().startsWith(QLatin1String("--")) ? u'=' + word : word;
    }
    return words;
}

ExecutorChoice::ExecutorChoice(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_place(new QComboBox)
    , m_words(new QLineEdit)
    , m_note(plainLabel(this, true)) {
    m_place->addItems({tr("This machine"), tr("Slurm")});
    m_place->setAccessibleName(tr("Where the parts of the experiment run"));
    m_words->setPlaceholderText(tr("--partition=cpu --time=2:00:00"));
    m_words->setAccessibleName(tr("Arguments of sbatch"));
    m_words->setToolTip(tr("Arguments for sbatch, as on its command line"));
    m_note->setProperty("tone", QStringLiteral("small"));
    auto* name = new QLabel(tr("Run on"));
    name->setBuddy(m_place);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->addWidget(name, 0, 0);
    grid->addWidget(m_place, 0, 1, Qt::AlignLeft);
    grid->addWidget(m_words, 1, 0, 1, 2);
    grid->addWidget(m_note, 2, 0, 1, 2);
    grid->setColumnStretch(1, 1);
    connect(m_place, &QComboBox::currentIndexChanged, this, &ExecutorChoice::showChoice);
    connect(m_place, &QComboBox::currentIndexChanged, this, &ExecutorChoice::changed);
    connect(m_words, &QLineEdit::textChanged, this, &ExecutorChoice::changed);
    connect(&theme, &Theme::changed, this, &ExecutorChoice::restyle);
    restyle();
    lookForSlurm();
}

void ExecutorChoice::lookForSlurm() {
    m_hasSlurm = !QStandardPaths::findExecutable(QStringLiteral("sbatch")).isEmpty();
    static_cast<QStandardItemModel*>(m_place->model())->item(kSlurm)->setEnabled(m_hasSlurm);
    if (!m_hasSlurm)
        m_place->setCurrentIndex(kHere);
    showChoice();
}

void ExecutorChoice::showChoice() {
    const bool isSlurm = m_place->currentIndex() == kSlurm;
    m_words->setVisible(isSlurm);
    m_note->setVisible(isSlurm || !m_hasSlurm);
    m_note->setText(isSlurm ? tr("The parts run side by side on the nodes. Each node must see the "
                                 "folder of the run, the model and this program under the same "
                                 "path. When the window is closed they are cancelled, and go on "
                                 "with its next start.")
                            : tr("The parts run one after the other. To run them on a cluster, "
                                 "start this window where Slurm's sbatch is installed."));
}

QStringList ExecutorChoice::arguments() const {
    if (m_place->currentIndex() != kSlurm)
        return {};
    QStringList arguments{QStringLiteral("--executor"), QStringLiteral("slurm")};
    for (const QString& word : sbatchWords(m_words->text()))
        arguments << QStringLiteral("--slurm-argument=") + word;
    return arguments;
}

void ExecutorChoice::restyle() {
    auto* grid = static_cast<QGridLayout*>(layout());
    grid->setHorizontalSpacing(m_theme.scaled(12));
    grid->setVerticalSpacing(m_theme.scaled(6));
}

} // namespace ui
