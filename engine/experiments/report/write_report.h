// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/report/experiment_result.h"
#include "engine/experiments/report/found_sets.h"

#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// Writes report.html, report.md, a .csv and a .tex for each table, tokens.tex if there are texts
/// with the origin of their tokens, skip_sets.json if sets were found, and figures/ID.svg and
/// figures/ID.pdf, of a film also figures/ID.film.svg, into `folder`, which is made if it is
/// missing. `configuration` is the recipe as it ran (JSON); the report shows it. Each file is
/// replaced as a whole; with an error the files that were not reached stay as they were. Errors:
/// Io.
Result<void> writeReport(const std::filesystem::path& folder,
                         const ExperimentResult& result,
                         const std::string& configuration,
                         const std::vector<FoundSkipSet>& sets = {});

/// Removes what an earlier report of a run has in `folder` and this one has not: files of tables
/// and figures of its recipe that are not printed any more, as where vanilla moved. Nothing else
/// goes. Errors: Io.
Result<void> removeOutdated(const std::filesystem::path& folder,
                            const Recipe& recipe,
                            const ExperimentResult& result,
                            const std::vector<FoundSkipSet>& sets = {});

/// One file that needs nothing else: verdict, figures, tables, how it was measured, configuration.
std::string reportHtml(const ExperimentResult& result, const std::string& configuration);

std::string reportMarkdown(const ExperimentResult& result, const std::string& configuration);

/// Whether a column has numbers.
bool hasValues(const ResultTable& table, std::size_t column);

/// A table as comma-separated values (RFC 4180): a column with an interval is followed by its
/// bounds ("NAME, low", "NAME, high"), and one of measured values by how many each is of ("NAME,
/// n"). Cells that a spreadsheet would take for a formula begin with an apostrophe.
std::string tableCsv(const ResultTable& table);

/// A table as LaTeX (tabular with booktabs rules).
std::string tableLatex(const ResultTable& table);

/// Answers whose tokens say where they come from, as LaTeX without packages.
std::string originsLatex(const std::vector<OriginText>& origins);

} // namespace engine
