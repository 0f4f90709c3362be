// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/load_options.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSpinBox>

namespace ui {

namespace {

constexpr int kMostThreads = 256;
constexpr int kLongestContext = 1 << 20;
constexpr int kContextStep = 512;

QSpinBox* makeSpin(int maximum, int step, QWidget* parent) {
    auto* spin = new QSpinBox(parent);
    spin->setRange(0, maximum);
    spin->setSingleStep(step);
    spin->setSpecialValueText(QObject::tr("Automatic"));
    spin->setKeyboardTracking(false);
    spin->setFocusPolicy(Qt::StrongFocus);
    return spin;
}

} // namespace

LoadOptions::LoadOptions(const Theme& theme, const QStringList& backends, QWidget* parent)
    : QWidget(parent)
    , m_backend(new QComboBox(this))
    , m_precision(new QComboBox(this))
    , m_threads(makeSpin(kMostThreads, 1, this))
    , m_context(makeSpin(kLongestContext, kContextStep, this)) {
    m_backend->addItem(tr("Automatic"), QString());
    for (const QString& backend : backends)
        m_backend->addItem(backend, backend);
    for (const char* precision : {"float32", "bfloat16", "float64"})
        m_precision->addItem(precision, precision);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    int row = 0;
    for (const auto& [name, widget] : {std::pair<QString, QWidget*>(tr("Backend"), m_backend),
                                       {tr("Precision"), m_precision},
                                       {tr("Threads"), m_threads},
                                       {tr("Context, tokens"), m_context}}) {
        auto* label = new QLabel(name, this);
        label->setProperty("tone", "small");
        label->setBuddy(widget);
        widget->setAccessibleName(name);
        widget->setFocusPolicy(Qt::StrongFocus);
        widget->setFont(theme.font(TextRole::Small));
        grid->addWidget(label, row, 0);
        grid->addWidget(widget, row++, 1);
    }
    connect(m_backend, &QComboBox::activated, this, &LoadOptions::changed);
    connect(m_precision, &QComboBox::activated, this, &LoadOptions::changed);
    connect(m_threads, &QSpinBox::valueChanged, this, &LoadOptions::changed);
    connect(m_context, &QSpinBox::valueChanged, this, &LoadOptions::changed);
}

engine::LoadModel LoadOptions::command(const QString& path) const {
    return {.path = path.toStdString(),
            .backend = m_backend->currentData().toString().toStdString(),
            .precision = m_precision->currentData().toString().toStdString(),
            .threads = m_threads->value(),
            .contextLength = m_context->value()};
}

void LoadOptions::setCommand(const engine::LoadModel& command) {
    const auto select = [](QComboBox* box, const std::string& value) {
        const int index = box->findData(QString::fromStdString(value));
        box->setCurrentIndex(index < 0 ? 0 : index);
    };
    select(m_backend, command.backend);
    select(m_precision, command.precision);
    m_threads->setValue(command.threads);
    m_context->setValue(command.contextLength);
}

} // namespace ui
