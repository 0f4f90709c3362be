// SPDX-License-Identifier: GPL-3.0-only
// What one picture of a live workspace costs the UI thread, in milliseconds of processor
// time: events taken, views refreshed, laid out and painted. An invented run takes the engine's
// place, so that figures before and after a change compare.
//   picture_study [--workspace chat|inspect] [--pictures N] [--steps N] [--frozen] [--tables]
// Without a display: QT_QPA_PLATFORM=offscreen.
#include "tests/ui/support/live_run.h"

#include <QThread>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

namespace {

double threadMs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

/// Layouts that were asked for in the whole window.
class LayoutCount : public QObject {
public:
    int count = 0;

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        count += event->type() == QEvent::LayoutRequest ? 1 : 0;
        return false;
    }
};

void report(int workspace, int pictures, int steps, bool isFrozen, bool hasTables) {
    support::StudioStage stage;
    stage.open();
    support::LiveRun live(stage, workspace);
    if (hasTables)
        live.showTables();
    for (ui::View* view : stage.studio->views())
        view->setFrozen(isFrozen);
    LayoutCount layouts;
    std::vector<double> costs;
    constexpr int kWarmUp = 40;
    for (int i = 0; i < pictures + kWarmUp; ++i) {
        live.sayPicture(steps);
        // The bridge draws no picture before its time.
        QThread::msleep(static_cast<unsigned long>(stage.studio->bridge().pictureInterval()));
        if (i == kWarmUp)
            qApp->installEventFilter(&layouts);
        const double begin = threadMs();
        live.tick();
        for (int turn = 0; turn < 4; ++turn)
            QCoreApplication::processEvents();
        if (i >= kWarmUp)
            costs.push_back(threadMs() - begin);
    }
    qApp->removeEventFilter(&layouts);
    double sum = 0.0;
    for (const double cost : costs)
        sum += cost;
    std::ranges::sort(costs);
    std::printf("%s, %d steps a picture: median %.3f ms, mean %.3f ms, %.2f layouts a picture\n",
                isFrozen ? "frozen" : "shown",
                steps,
                costs[costs.size() / 2],
                sum / pictures,
                static_cast<double>(layouts.count) / pictures);
}

} // namespace

int main(int argc, char** argv) {
    CLI::App options("What a picture costs the UI thread.", "picture_study");
    std::string workspace = "inspect";
    int pictures = 150;
    int steps = 10;
    bool isFrozen = false;
    bool hasTables = false;
    options.add_option("--workspace", workspace, "Which one is shown")
        ->check(CLI::IsMember({"chat", "inspect"}));
    options.add_option("--pictures", pictures, "How many are measured");
    options.add_option("--steps", steps, "Steps of the engine between two pictures");
    options.add_flag("--frozen", isFrozen, "All views frozen");
    options.add_flag("--tables", hasTables, "A decoder that does not search and shows tables");
    CLI11_PARSE(options, argc, argv);
    QApplication application(argc, argv);
    report(workspace == "chat" ? 0 : 1, pictures, steps, isFrozen, hasTables);
    return 0;
}
