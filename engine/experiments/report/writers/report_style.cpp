// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/writers/report_style.h"

namespace engine {

const char* reportStyle() {
    return R"(*{box-sizing:border-box}
body{margin:0;background:var(--ink-panel);color:var(--ink-text);
font:14px/22px Inter,"Noto Sans",system-ui,sans-serif;font-feature-settings:"tnum" 1}
main{max-width:976px;margin:0 auto;padding:32px}
h1{font-size:24px;line-height:32px;font-weight:600;margin:0}
h2{font-size:16px;line-height:24px;font-weight:600;margin:0 0 8px}
h3{font-size:14px;font-weight:600;margin:16px 0 4px}
section{margin:32px 0 0;padding:24px 0 0;border-top:1px solid var(--ink-grid)}
p{margin:0 0 8px;max-width:80ch}
.note{color:var(--ink-muted);font-size:13px}
header .note{margin:4px 0 0}
.verdict{display:flex;gap:16px;margin:20px 0 0;padding:16px 20px;border:0;border-left:4px solid;
background:var(--ink-shade);border-color:var(--ink-accent)}
.verdict p{margin:0;max-width:none}
.verdict.gain{border-color:var(--ink-success)}
.verdict.nogain{border-color:var(--ink-warning)}
.mark{flex:none;width:22px;height:22px;border:1.5px solid;border-radius:50%;text-align:center;
font-size:12px;line-height:19px;font-weight:600;color:var(--ink-accent)}
.gain .mark{color:var(--ink-success)}
.nogain .mark{color:var(--ink-warning)}
.open{margin:16px 0 0;color:var(--ink-warning);font-weight:600}
.wide{overflow-x:auto}
.pause+label{margin-left:6px;font-size:13px}
.pause:checked~.wide g{animation-play-state:paused}
svg{display:block;max-width:none}
table{border-collapse:collapse;width:100%;font-size:13px;line-height:20px}
th,td{text-align:left;padding:5px 16px 5px 0;border-bottom:1px solid var(--ink-grid);
font-weight:400;white-space:nowrap}
th:last-child,td:last-child{padding-right:0}
thead th{color:var(--ink-muted);font-size:12px}
tbody th{font-weight:600}
tbody th.again{font-weight:400;color:var(--ink-muted)}
.n{text-align:right}
td.n{font-family:"Noto Sans Mono",ui-monospace,monospace;font-size:12px}
details{margin:12px 0 0}
summary{cursor:pointer;color:var(--ink-accent);font-size:13px;width:max-content;max-width:100%}
summary:focus-visible{outline:2px solid var(--ink-accent);outline-offset:2px}
details[open] summary{margin-bottom:8px}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(360px,1fr));gap:0 40px;margin:0;
font-size:13px}
dl div{display:flex;justify-content:space-between;gap:24px;padding:4px 0;
border-bottom:1px solid var(--ink-grid)}
dt{color:var(--ink-muted);flex:none}
dd{margin:0;text-align:right;overflow-wrap:anywhere}
ul{margin:0;padding-left:20px}
pre{margin:0;padding:16px;overflow:auto;max-height:600px;background:var(--ink-shade);
font:12px/18px "Noto Sans Mono",ui-monospace,monospace}
.tokens{font:13px/26px "Noto Sans Mono",ui-monospace,monospace;white-space:pre-wrap;max-width:none;
overflow-wrap:anywhere}
.first{border-bottom:2px solid var(--ink-success)}
.other{border-bottom:2px dashed var(--ink-success)}
.own{border-bottom:2px dotted var(--ink-muted)}
sub{color:var(--ink-success);font-size:10px}
@media (max-width:600px){main{padding:16px}dl{grid-template-columns:1fr}}
@media print{.pause,.pause+label{display:none}}
@media print{main{max-width:none;padding:0}section{break-inside:avoid}}
)";
}

} // namespace engine
