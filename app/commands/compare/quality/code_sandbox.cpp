// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/quality/code_sandbox.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <random>
#include <spawn.h>
#include <sstream>
#include <thread>
#include <vector>

extern char** environ; // NOLINT(readability-redundant-declaration): posix_spawn needs it

namespace app {

using namespace engine;

namespace {

constexpr std::chrono::seconds kLongest{30};
constexpr std::chrono::milliseconds kPoll{2};
constexpr std::size_t kMostOutput = 4096;

/// The examples are taken from the task, not from the program, which might have dropped them. The
/// word that says "passed" is read after the program has run, so that it cannot say so itself.
constexpr const char* kHarness = R"py(
import ast, doctest, json, sys
def described(task):
    # In the text itself, the quotes behind the last example would belong to what it expects.
    try:
        functions = [node for node in ast.walk(ast.parse(task)) if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        return task
    return "\n\n".join(ast.get_docstring(node) or "" for node in functions)
job = json.loads(sys.stdin.readline())
names = {"__name__": "answer"}
exec(compile(job["program"], "answer", "exec"), names)
if job["test"]:
    exec(compile(job["test"], "test", "exec"), names)
    names["check"](names[job["entry_point"]])
else:
    examples = doctest.DocTestParser().get_doctest(described(job["examples"]), names, "task", None, 0)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    result = runner.run(examples, out=lambda text: None)
    if result.failed or not result.attempted:
        sys.exit(1)
sys.__stdout__.write("\n" + sys.stdin.readline().strip() + "\n")
)py";

/// Bubblewrap, and inside of it the limits. Fixed paths, because PATH is the user's.
constexpr const char* kCommand =
    "/usr/bin/bwrap --unshare-all --die-with-parent --new-session --clearenv --cap-drop ALL "
    "--setenv PATH /usr/bin --ro-bind /usr /usr --ro-bind-try /lib /lib "
    "--ro-bind-try /lib64 /lib64 --proc /proc --dev /dev --size 16777216 --tmpfs /tmp "
    "--chdir /tmp -- /usr/bin/prlimit --cpu=5 --as=1073741824 --fsize=1048576 --nofile=32 "
    "--nproc=64 --core=0 -- /usr/bin/python3 -I -S -c";

std::vector<std::string> command() {
    std::istringstream typed(kCommand);
    std::vector<std::string> words{std::istream_iterator<std::string>(typed), {}};
    words.emplace_back(kHarness);
    return words;
}

/// A file in memory, closed at the end.
class MemoryFile {
public:
    explicit MemoryFile(const char* name)
        : m_file(memfd_create(name, MFD_CLOEXEC)) {}

    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    ~MemoryFile() {
        if (m_file >= 0)
            close(m_file);
    }

    int file() const { return m_file; }

    bool write(const std::string& text) const {
        return m_file >= 0 &&
               ::write(m_file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
               lseek(m_file, 0, SEEK_SET) == 0;
    }

    /// The last bytes of it.
    std::string tail() const {
        const off_t size = lseek(m_file, 0, SEEK_END);
        const off_t from = std::max<off_t>(0, size - static_cast<off_t>(kMostOutput));
        std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
        const ssize_t count = pread(m_file, text.data(), text.size(), from);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
        return text;
    }

private:
    int m_file;
};

/// The end of a child; `hasEnded` is false if it was killed for its time.
struct ChildOutput {
    int status = 0;
    bool hasEnded = true;
    std::string output;
};

Error cannotStart() {
    return {ErrorCode::Io, "The process that runs code could not be started.", "Free some memory."};
}

Result<ChildOutput> runChild(const std::string& input, const std::stop_token& stop) {
    const MemoryFile in("input");
    const MemoryFile out("output");
    if (!in.write(input) || out.file() < 0)
        return cannotStart();
    std::vector<std::string> words = command();
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.file(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out.file(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int failure =
        posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0)
        return cannotStart();
    ChildOutput made;
    const auto end = std::chrono::steady_clock::now() + kLongest;
    while (waitpid(child, &made.status, WNOHANG) == 0) {
        const bool isLate = std::chrono::steady_clock::now() > end;
        if (isLate || stop.stop_requested()) {
            kill(child, SIGKILL); // takes everything inside along
            waitpid(child, &made.status, 0);
            made.hasEnded = false;
            break;
        }
        std::this_thread::sleep_for(kPoll);
    }
    if (stop.stop_requested())
        return Error{ErrorCode::Cancelled, "Running code was cancelled.", ""};
    made.output = out.tail();
    return made;
}

/// A word that no program can guess.
std::string secretWord() {
    std::random_device random;
    return fmt::format("passed {:08x}{:08x}", random(), random());
}

Error noSandbox(const std::string& why, const std::string& hint) {
    return {ErrorCode::Unsupported,
            fmt::format("Code cannot be run safely here: {}.", why),
            hint + " Without --run-code, everything else is measured."};
}

} // namespace

Result<CodeSandbox> CodeSandbox::make(const std::stop_token& stop) {
    for (const auto& [path, package] : {std::pair("/usr/bin/bwrap", "bubblewrap"),
                                        std::pair("/usr/bin/prlimit", "util-linux"),
                                        std::pair("/usr/bin/python3", "python3")})
        if (access(path, X_OK) != 0)
            return noSandbox(fmt::format("{} is missing", path),
                             fmt::format("Install Debian's package {}.", package));
    const CodeSandbox sandbox(stop);
    const CodeTrial trial{.program = "def one():\n    return 1\n",
                          .test = "def check(function):\n    assert function() == 1\n",
                          .examples = {},
                          .entryPoint = "one"};
    ENGINE_TRY(const bool works, sandbox.passes(trial));
    if (!works)
        return noSandbox("bubblewrap could not make its sandbox",
                         "Inside a container, allow user namespaces "
                         "(kernel.unprivileged_userns_clone).");
    return sandbox;
}

Result<bool> CodeSandbox::passes(const CodeTrial& trial) const {
    const std::string secret = secretWord();
    const nlohmann::json job = {{"program", trial.program},
                                {"test", trial.test},
                                {"examples", trial.examples},
                                {"entry_point", trial.entryPoint}};
    const std::string line =
        job.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n" + secret + "\n";
    ENGINE_TRY(const ChildOutput made, runChild(line, m_stop));
    return made.hasEnded && WIFEXITED(made.status) && WEXITSTATUS(made.status) == 0 &&
           made.output.ends_with("\n" + secret + "\n");
}

} // namespace app
