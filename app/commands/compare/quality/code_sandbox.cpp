// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/quality/code_sandbox.h"

#include "app/child_process.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <chrono>
#include <iterator>
#include <random>
#include <sstream>
#include <vector>

namespace app {

using namespace engine;

namespace {

constexpr std::chrono::seconds kLongest{30};

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
    // Killing bubblewrap takes everything inside along.
    ENGINE_TRY(const ChildOutput made,
               runChild({.words = command(), .input = line, .limit = kLongest}, m_stop));
    return made.hasSucceeded() && made.output.ends_with("\n" + secret + "\n");
}

} // namespace app
