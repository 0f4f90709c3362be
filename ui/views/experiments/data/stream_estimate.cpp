// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/data/stream_estimate.h"

#include "ui/views/experiments/data/data_page.h"

#include <QPointer>

namespace ui {

StreamEstimate::StreamEstimate(DataPage& page,
                               RunSetup& setup,
                               const QString& program,
                               QObject* parent)
    : QObject(parent)
    , m_page(page)
    , m_setup(setup)
    , m_cost(program) {
    connect(&page, &DataPage::estimateAsked, this, &StreamEstimate::ask);
    connect(&page, &DataPage::costForgotten, this, [this] {
        ++m_question;
        m_cost.ask({});
    });
    connect(&m_cost, &CostPreview::answered, &page, &DataPage::tellCost);
}

void StreamEstimate::setModel(const ModelChoice& model) {
    m_model = model;
    m_page.forgetCost();
}

/// The files are written first; the user may have chosen something else meanwhile.
void StreamEstimate::ask(const StreamChoice& choice) {
    const int question = ++m_question;
    m_cost.ask({});
    m_setup.makeForEstimate(choice,
                            m_model,
                            [here = QPointer<StreamEstimate>(this),
                             question](const ExperimentJob& job, const QString& problem) {
                                if (here == nullptr || question != here->m_question)
                                    return;
                                if (problem.isEmpty())
                                    here->m_cost.ask(QStringList{job.recipe} + job.arguments);
                                else
                                    here->m_page.tellCost(problem, true);
                            });
}

} // namespace ui
