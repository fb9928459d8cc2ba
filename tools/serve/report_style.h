// SPDX-License-Identifier: Apache-2.0
// The style sheet of the report. Colours keep apart for the colour-blind, on light and on dark.

#pragma once

namespace serve {

inline constexpr const char* kReportStyle = R"css(
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --ink: #1c2430; --soft: #5b6675;
  --grid: #e3e7ec; --axis: #9aa4b1; --blue: #1f6fb5; --orange: #c45c10; --green: #1c8a5a;
  --purple: #7a4fb5; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #12161c; --card: #1b2129; --ink: #e6eaf0;
  --soft: #9aa6b5; --grid: #2c343f; --axis: #5d6978; --blue: #64b1f2; --orange: #f79a4b;
  --green: #4fc794; --purple: #b79af0; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1500px; padding: 24px; background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 2px; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 24px 0 8px; }
p { margin: 0 0 12px; color: var(--soft); overflow-wrap: anywhere; }
p.bad { color: var(--bad); font-weight: 600; }
ul.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(140px, 1fr)); gap: 12px;
  list-style: none; margin: 16px 0; padding: 0; }
ul.tiles li, figure, div.table { background: var(--card); border: 1px solid var(--grid);
  border-radius: 8px; }
ul.tiles li { padding: 10px 14px; color: var(--soft); font-size: 13px; }
ul.tiles b { display: block; color: var(--ink); font-size: 21px; font-variant-numeric: tabular-nums; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr));
  gap: 16px; align-items: start; }
figure { margin: 0; padding: 12px 14px; }
figcaption { font-weight: 600; }
p.legend { margin: 2px 0 4px; font-size: 13px; min-height: 20px; }
p.legend span { margin-right: 14px; white-space: nowrap; }
p.legend i { display: inline-block; width: 16px; height: 0; margin-right: 5px; vertical-align: middle;
  border-top: 3px solid var(--c, var(--axis)); }
p.legend i.limit { border-top-style: dashed; }
.blue { --c: var(--blue); } .orange { --c: var(--orange); }
.green { --c: var(--green); } .purple { --c: var(--purple); }
div.live { width: 100%; height: 250px; touch-action: pan-y; font-size: 12px; }
div.live .dygraph-axis-label { color: var(--soft); }
div.live .dygraph-label { color: var(--soft); font-size: 12.5px; text-align: center; }
p.legend output { float: right; }
button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--axis);
  border-radius: 6px; padding: 4px 12px; margin: 0 0 12px; }
@media print { button { display: none; } }
div.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 7px 14px; text-align: right; border-bottom: 1px solid var(--grid);
  font-variant-numeric: tabular-nums; white-space: nowrap; }
tr:last-child th, tr:last-child td { border-bottom: 0; }
th { font-weight: 600; }
/* The name stays where it is while the numbers are scrolled. */
th:first-child { text-align: left; white-space: normal; position: sticky; left: 0;
  background: var(--card); }
@media (max-width: 700px) { body { padding: 14px; } th, td { padding: 6px 8px; font-size: 13px; } }
/* Settings may be long, as a path is; numbers stay whole. */
td.setting { white-space: normal; overflow-wrap: anywhere; }
@media (max-width: 400px) { th, td { padding: 6px 5px; } }
/* A run of a sweep is a list where its columns have no room. */
@media (max-width: 1000px) {
  #trials, #trials tbody, #trials tr, #trials th, #trials td { display: block; }
  #trials tr:first-child { display: none; }
  #trials tr { padding: 6px 0; border-bottom: 1px solid var(--grid); }
  #trials th, #trials td { border: 0; padding: 2px 14px; text-align: right; }
  #trials [data-name]::before { content: attr(data-name); float: left; margin-right: 12px;
    color: var(--soft); font-weight: 400; } }
)css";

}  // namespace serve
