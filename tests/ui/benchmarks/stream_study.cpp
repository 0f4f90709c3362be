// SPDX-License-Identifier: GPL-3.0-only
// What the window costs while a long stream of prompts runs beside it in a process of its own:
//   stalls  how long the window's event loop is away, p99 and maximum, over the whole run;
//   memory  how much the window's resident memory has grown since the first twentieth was done;
//   count   that every prompt was answered, and counted once, though the process is killed with
//           SIGKILL in the middle and the run then goes on.
// Meanwhile the pages of the run are visited in turn: its course, its report so far, the answers to
// a prompt, a slice, a recipe, and the other workspaces.
//   stream_study [--prompts N] [--max-tokens N] [--model FILE] [--modules FOLDER]
//                [--program FILE] [--recipes FOLDER] [--visit-ms N]
// Without --model it makes a tiny one, whose answers are quick. The exit code is 1 if a prompt is
// missing or counted twice. Without a display: QT_QPA_PLATFORM=offscreen.
#include "tests/ui/benchmarks/stall_probe.h"
#include "tests/ui/studio/letter_model.h"
#include "ui/bridge/links/session_link.h"
#include "ui/studio/studio.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/experiments/stream/prompts_view.h"
#include "ui/views/experiments/stream/stream_page.h"

#include <QApplication>
#include <QDir>
#include <QEventLoop>
#include <QFile>
#include <QTemporaryDir>
#include <QTimer>

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <map>
#include <optional>

using namespace support;

namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

struct Arguments {
    int prompts = 1000;
    int maxTokens = 8;
    std::string model; ///< empty: a tiny one
    std::string modules = "build/release/lib/swift-studio";
    std::string program = "build/release/bin/swift-run";
    std::string recipes = "resources/recipes";
    int visitMs = 2000;
};

double memoryMiB() {
    const auto memory = ui::memoryInUse();
    return memory ? memory->processBytes / kMebibyte : 0.0;
}

/// Nine tasks, one after the other; short prompts in the letters that the tiny model knows.
void writePrompts(const QString& path, int count) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        qFatal("the prompts cannot be written");
    for (int i = 0; i < count; ++i) {
        QByteArray words;
        for (int rest = i + 1; rest > 0; rest /= 5)
            words += QByteArray("abcde").mid(rest % 5, 1) + (rest % 2 == 0 ? " " : "");
        file.write(QByteArray("{\"task\":\"task ") + QByteArray::number(i * 9 / count + 1) +
                   "\",\"prompt\":\"" + words.trimmed() + "\"}\n");
    }
}

/// The process of the window that runs the experiment.
std::optional<pid_t> runningProgram() {
    const QString tasks = QStringLiteral("/proc/self/task");
    for (const QString& task : QDir(tasks).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        QFile children(tasks + u'/' + task + QStringLiteral("/children"));
        if (!children.open(QIODevice::ReadOnly))
            continue;
        for (const QByteArray& child : children.readAll().split(' ')) {
            QFile command(QStringLiteral("/proc/%1/cmdline").arg(QString::fromLatin1(child)));
            if (!child.isEmpty() && command.open(QIODevice::ReadOnly) &&
                command.readAll().contains("experiment"))
                return child.toInt();
        }
    }
    return std::nullopt;
}

/// The run, what is looked at meanwhile, and what that costs.
class StreamRun : public QObject {
public:
    StreamRun(ui::Studio& studio, const Arguments& arguments)
        : m_studio(studio)
        , m_desk(*studio.experiments())
        , m_prompts(arguments.prompts) {
        m_visits.setInterval(arguments.visitMs);
        connect(&m_visits, &QTimer::timeout, this, [this] { visit(); });
        connect(&m_desk.queue(), &ui::ExperimentQueue::changed, this, [this] { follow(); });
        m_look.setInterval(kLookMs);
        connect(&m_look, &QTimer::timeout, this, [this] { look(); });
    }

    /// Returns when the run is over.
    void run(ui::ExperimentJob job) {
        m_id = m_desk.queue().add(std::move(job));
        m_desk.queue().run(m_id);
        m_desk.showJob(m_id);
        m_probe.start();
        m_visits.start();
        m_look.start();
        m_loop.exec();
        m_visits.stop();
        m_look.stop();
        m_stalls = m_probe.stop();
    }

    /// Returns whether every prompt was counted once.
    bool report() const {
        std::printf("stalls: p50 %.2f ms, p99 %.2f ms, maximum %.1f ms, of %zu questions\n",
                    percentile(m_stalls, 0.5),
                    percentile(m_stalls, 0.99),
                    percentile(m_stalls, 1.0),
                    m_stalls.size());
        const double end = memoryMiB();
        const double most = std::max(m_mostMiB, end);
        std::printf("memory: %.1f MiB once a twentieth was done, %.1f at most since then, %.1f at "
                    "the end: it has grown by at most %.1f MiB\n",
                    m_firstMiB,
                    most,
                    end,
                    most - m_firstMiB);
        std::printf("killed at %d prompts; %d visits of pages\n", m_killedAt, m_visited);
        const QString folder = m_desk.queue().job(m_id)->folder;
        auto opened = engine::RunFolder::open(folder.toStdString());
        if (!opened) {
            std::printf("%s\n", opened.error().message.c_str());
            return false;
        }
        std::map<std::pair<std::string, int>, int> answers; // first answers by variant and prompt
        for (const engine::PlannedShard& shard : opened.value().plan().shards)
            if (const auto result = opened.value().result(shard.index))
                for (const engine::ShardAnswer& answer : result.value().answers)
                    answers[{answer.variant, answer.prompt}] += answer.pass == 0 ? 1 : 0;
        int once = 0;
        for (const auto& [key, count] : answers)
            once += count == 1 ? 1 : 0;
        std::printf("count: %d of %d answers (vanilla's and the decoder's) are there once\n",
                    once,
                    2 * m_prompts);
        return once == 2 * m_prompts && answers.size() == static_cast<std::size_t>(once);
    }

private:
    static constexpr int kLookMs = 200;

    int done() const {
        return static_cast<int>(
            m_desk.page().streamPage().prompts().sliceModel().sourceModel()->rowCount());
    }

    void look() {
        const int answered = done();
        if (answered < m_prompts / 20)
            return;
        const double now = memoryMiB();
        if (m_firstMiB == 0.0)
            m_firstMiB = now;
        m_mostMiB = std::max(m_mostMiB, now);
        if (m_killedAt == 0 && answered >= m_prompts / 2)
            if (const auto process = runningProgram(); process && kill(*process, SIGKILL) == 0)
                m_killedAt = answered;
    }

    void follow() {
        const ui::ExperimentJob* job = m_desk.queue().job(m_id);
        if (job == nullptr)
            return;
        if (job->state == ui::JobState::Finished)
            m_loop.quit();
        if (job->state != ui::JobState::Failed)
            return;
        if (m_killedAt == 0 || m_isResumed) {
            std::printf("the run has failed: %s\n", qPrintable(job->sentence));
            m_loop.quit();
            return;
        }
        m_isResumed = true;
        QTimer::singleShot(0, this, [this] { m_desk.queue().run(m_id); });
    }

    void visit() {
        using Action = ui::ExperimentsPage::Action;
        ui::PromptsView& prompts = m_desk.page().streamPage().prompts();
        constexpr int kPlaces = 8;
        switch (m_visited++ % kPlaces) {
        case 0:
        case 4:
            m_studio.window().showWorkspace(2);
            m_desk.showJob(m_id);
            break;
        case 1:
        case 6:
            emit m_desk.page().actionAsked(Action::Turn); // the report so far, and back
            break;
        case 2:
            emit prompts.answerAsked(1 + done() / 2);
            break;
        case 3:
            m_studio.window().showWorkspace(1);
            break;
        case 5:
            prompts.setSlice(QStringLiteral("task = \"task 1\" and acceptance < .8"));
            break;
        default:
            prompts.setSlice({});
            m_desk.showRecipe(m_desk.catalog().entries().front().path);
            break;
        }
    }

    ui::Studio& m_studio;
    ui::ExperimentsDesk& m_desk;
    int m_prompts;
    QString m_id;
    QEventLoop m_loop;
    QTimer m_visits;
    QTimer m_look;
    StallProbe m_probe;
    std::vector<double> m_stalls;
    double m_firstMiB = 0.0;
    double m_mostMiB = 0.0;
    int m_killedAt = 0;
    int m_visited = 0;
    bool m_isResumed = false;
};

int study(const Arguments& arguments) {
    const QTemporaryDir folder;
    ui::StudioOptions options;
    options.chatsPath = folder.filePath(QStringLiteral("chats.sqlite"));
    options.settingsPath = folder.filePath(QStringLiteral("window.ini"));
    options.ownPresetsFolder = folder.filePath(QStringLiteral("presets"));
    options.experiments = {QDir().absoluteFilePath(QString::fromStdString(arguments.program)),
                           QString::fromStdString(arguments.recipes),
                           folder.filePath(QStringLiteral("experiments"))};
    ui::ModelChoice model{QString::fromStdString(arguments.model)};
    if (arguments.model.empty()) {
        model.path = folder.filePath(QStringLiteral("model"));
        writeLetterModel(model.path, 3);
    }
    const QString prompts = folder.filePath(QStringLiteral("prompts.jsonl"));
    writePrompts(prompts, arguments.prompts);
    ui::Studio studio(ui::makeSessionLink({.moduleFolder = arguments.modules}), options);
    studio.window().showWorkspace(2);
    studio.window().resize(1440, 900);
    studio.window().show();
    studio.start();
    ui::StreamChoice choice;
    choice.title = QStringLiteral("A long stream");
    choice.data.paths = {prompts.toStdString()};
    choice.maxTokens = arguments.maxTokens;
    ui::RunSetup setup(options.experiments.folder);
    std::optional<ui::ExperimentJob> made;
    QEventLoop waiting;
    setup.make(choice, model, [&](const ui::ExperimentJob& job, const QString& problem) {
        if (problem.isEmpty())
            made = job;
        else
            std::fprintf(stderr, "%s\n", qPrintable(problem));
        waiting.quit();
    });
    waiting.exec();
    if (!made)
        return 1;
    if (arguments.model.empty())
        made->arguments << QStringLiteral("--backend") << QStringLiteral("plain");
    const auto begin = Clock::now();
    StreamRun run(studio, arguments);
    run.run(std::move(*made));
    std::printf("%d prompts in %.0f s\n",
                arguments.prompts,
                millisecondsBetween(begin, Clock::now()) / 1e3);
    return run.report() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App options("What the window costs while a long stream of prompts runs.", "stream_study");
    Arguments arguments;
    options.add_option("--prompts", arguments.prompts, "How many")->check(CLI::Range(40, 100'000));
    options.add_option("--max-tokens", arguments.maxTokens, "Longest answer");
    options.add_option("--model", arguments.model, "GGUF file or folder; without it a tiny model");
    options.add_option("--modules", arguments.modules, "Folder of the run-time modules");
    options.add_option("--program", arguments.program, "swift-run");
    options.add_option("--recipes", arguments.recipes, "Folder of the recipes");
    options.add_option("--visit-ms", arguments.visitMs, "How long a page is looked at");
    CLI11_PARSE(options, argc, argv);
    QApplication application(argc, argv);
    return study(arguments);
}
