// SPDX-License-Identifier: Apache-2.0
// Turns between threads and between processes.
#include "engine/base/locks/turn_lock.h"

#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

using namespace engine;

namespace {

constexpr int kTurns = 25;

/// Takes turns and writes its letter in each. A turn, except the last one, goes on until somebody
/// waits for the next one, so that the two always compete for it.
void playTurns(const std::filesystem::path& file, const std::filesystem::path& log, char letter) {
    auto lock = TurnLock::open(file);
    if (!lock)
        ::_exit(2);
    for (int i = 0; i < kTurns; ++i) {
        const auto turn = lock.value().take();
        if (!turn || !turn.value())
            ::_exit(3);
        std::ofstream(log, std::ios::app) << letter;
        while (i + 1 < kTurns && !FileLock::isHeld(file.string() + ".next"))
            std::this_thread::yield();
    }
}

/// Does something in another process, which then lives until it is killed; returns its id as soon
/// as that is done.
pid_t inOtherProcess(const std::function<void()>& work) {
    int ends[2] = {};
    if (::pipe2(ends, O_CLOEXEC) != 0)
        qFatal("no pipe");
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        const char done = 'd';
        if (::write(ends[1], &done, 1) != 1)
            ::_exit(4);
        for (;;)
            ::pause();
    }
    ::close(ends[1]);
    char done = 0;
    if (::read(ends[0], &done, 1) != 1)
        qFatal("the other process failed");
    ::close(ends[0]);
    return child;
}

void killAndReap(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

} // namespace

class TurnLockTest : public QObject {
    Q_OBJECT

private slots:

    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_file = m_folder->filePath("turns").toStdString();
    }

    void threadsTakeEverySecondTurn() {
        std::thread other([this] { playTurns(m_file, log(), 'b'); });
        playTurns(m_file, log(), 'a');
        other.join();
        checkAlternation();
    }

    void processesTakeEverySecondTurn() {
        const pid_t child = ::fork();
        if (child == 0) {
            playTurns(m_file, log(), 'b');
            ::_exit(0);
        }
        playTurns(m_file, log(), 'a');
        int status = -1;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        checkAlternation();
    }

    void aKilledHolderEndsItsTurn() {
        const pid_t child = inOtherProcess([this] {
            static auto lock = TurnLock::open(m_file);
            static auto turn = lock.value().take();
        });
        auto lock = TurnLock::open(m_file);
        std::stop_source stopped;
        stopped.request_stop();
        QVERIFY(!lock.value().take(stopped.get_token()).value()); // it is held
        std::thread killer([this, child] {
            while (!FileLock::isHeld(next()))
                std::this_thread::yield();
            killAndReap(child);
        });
        const auto turn = lock.value().take();
        killer.join();
        QVERIFY(turn && turn.value());
        QVERIFY(turn.value()->waitedMs() > 0.0);
    }

    void aKilledWaiterLosesItsPlace() {
        const pid_t child = inOtherProcess([this] {
            static auto place = FileLock::take(next()); // as one that waits for its turn
        });
        QVERIFY(FileLock::isHeld(next()));
        killAndReap(child);
        auto lock = TurnLock::open(m_file);
        QVERIFY(lock.value().take().value());
    }

    void aStopEndsTheWaiting() {
        auto holder = TurnLock::open(m_file);
        auto waiter = TurnLock::open(m_file);
        auto turn = holder.value().take();
        std::stop_source source;
        bool hasTurn = true;
        std::thread waiting([&] {
            const auto taken = waiter.value().take(source.get_token());
            hasTurn = !taken || taken.value().has_value();
        });
        while (!FileLock::isHeld(next()))
            std::this_thread::yield();
        source.request_stop();
        waiting.join();
        QVERIFY(!hasTurn);
        QVERIFY(!FileLock::isHeld(next())); // its place is free
        QVERIFY(FileLock::isHeld(m_file));  // the turn goes on
        turn.value().reset();
        QVERIFY(!FileLock::isHeld(m_file));
        QVERIFY(waiter.value().take().value());
    }

    void aFolderThatDoesNotExistIsAnError() {
        const auto lock = TurnLock::open(m_file / "below a file");
        QVERIFY(!lock);
        QVERIFY(lock.error().code == ErrorCode::Io);
        QVERIFY(lock.error().message.find("below a file") != std::string::npos);
    }

private:
    std::filesystem::path log() const { return m_file.string() + ".log"; }

    std::filesystem::path next() const { return m_file.string() + ".next"; }

    void checkAlternation() const {
        std::stringstream written;
        written << std::ifstream(log()).rdbuf();
        const std::string turns = written.str();
        QCOMPARE(turns.size(), std::size_t{2 * kTurns});
        for (std::size_t i = 1; i < turns.size(); ++i)
            QVERIFY2(turns[i] != turns[i - 1], turns.c_str());
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path m_file;
};

QTEST_APPLESS_MAIN(TurnLockTest)
#include "turn_lock_test.moc"
