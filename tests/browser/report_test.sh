#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Opens a page of serve --report in a browser, by its file name: no word on the console, every chart
# is laid out, on light and dark, on wide and narrow screens. Skipped (77) without chromium.
#
#   report_test.sh SERVE [KEEP-PICTURE.png]
set -euo pipefail

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $browser ]]; then
    echo "skipped: no chromium is installed"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A name that is longer than a phone is wide.
trace=$folder/$(printf 'conversation_%.0s' 1 2 3 4).csv
cp "$(dirname "$0")/../../tools/serve/sample_trace.csv" "$trace"
"$1" "$trace" --max-seqs 32 --block-size 16 --blocks 900 --report "$folder/report.html" >/dev/null
"$1" --max-seqs 64 --block-size 16 --blocks 1500 --report "$folder/compared.html" --compare "$folder/report.html" >/dev/null

# visit OUTPUT ARGUMENT...: a browser of its own, with everything that it logs in $folder/log.
visit() {
    local output=$1
    shift
    timeout --kill-after=5 60 "$browser" --headless=new --no-sandbox --disable-gpu \
        --disable-dev-shm-usage --disable-background-networking --no-first-run \
        --user-data-dir="$folder/profile" --hide-scrollbars --enable-logging=stderr --v=0 \
        "$@" "file://$folder/page.html" >"$output" 2>"$folder/log" </dev/null
    if grep ':CONSOLE' "$folder/log"; then
        echo "FAILED: the page has something to say on the console" >&2
        exit 1
    fi
}

# probe PAGE KIND: a copy of the page, whole or with tables only. Where it ends, a script says what the browser has
# made of it.
probe() {
    if [[ $2 == tables ]]; then
        sed '/<script id="dygraphs">/,$d; /<main>/,/<\/main>/d' "$folder/$1"
    else
        sed '/<\/body>/,$d' "$folder/$1"
    fi
    cat <<'HTML'
<script>
const live = window.serveGraphs || [];
const moved = {};
if (live.length) {
  // A pointer over the first chart, which then zooms: all charts of time follow.
  const first = live[0].graph, place = first.canvas_.getBoundingClientRect();
  const at = (type, x) => first.mouseEventElement_.dispatchEvent(new MouseEvent(type, {bubbles: true, view: window,
    clientX: place.left + x, clientY: place.top + 80, button: 0, detail: 1}));
  at('mousemove', place.width / 2);
  moved.legends = live.map(g => document.querySelector(`#${g.chart.id} p.legend output`).textContent);
  moved.values = live.map(g => document.querySelector(`#${g.chart.id} p.legend b`).textContent);
  moved.crosshairs = live.filter(g => [...g.graph.graphDiv.querySelectorAll('canvas')].some(c => {
    const w = c.width; if (!w || !c.height || c === g.graph.canvas_ || c === g.graph.hidden_) return false;
    return c.getContext('2d').getImageData(0, 0, w, c.height).data.some(v => v > 0); })).length;
  const before = first.xAxisRange(), y = live.map(g => g.graph.yAxisRange());
  at('mousedown', place.width * 0.4); at('mousemove', place.width * 0.6);
  document.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, view: window, clientX: place.left + place.width * 0.6,
    clientY: place.top + 80}));
  document.dispatchEvent(new MouseEvent('mouseup', {bubbles: true, view: window, clientX: place.left + place.width * 0.6,
    clientY: place.top + 80}));
  const part = g => { const r = g.graph.xAxisRange(); return (r[1] - r[0]) / (before[1] - before[0]); };
  moved.zoomed = live.filter(g => g.chart.timed).map(part);
  document.getElementById('whole').click();
  moved.whole = live.filter(g => g.chart.timed).map(part);
  moved.ownAxes = new Set(y.map(range => range.join())).size;
  // A finger reads values.
  const t = new Touch({identifier: 1, target: first.mouseEventElement_, clientX: place.left + 100, clientY: place.top + 80});
  const start = new TouchEvent('touchstart', {bubbles: true, cancelable: true, touches: [t], targetTouches: [t], changedTouches: [t]});
  first.mouseEventElement_.dispatchEvent(start);
  moved.finger = [document.querySelector('#throughput p.legend output').textContent, start.defaultPrevented];
  first.clearSelection();
}
// Of the text: the element of a label of a chart is as wide as its place.
const box = e => {
  if (!e.closest('div.live')) return e.getBoundingClientRect();
  const range = document.createRange();
  range.selectNodeContents(e);
  return range.getBoundingClientRect();
};
const seen = e => e.getClientRects().length > 0;
const text = [...document.querySelectorAll('.dygraph-axis-label, .dygraph-xlabel, .dygraph-ylabel, td')].filter(seen);
const wide = document.documentElement.scrollWidth > innerWidth;
const outside = text.filter(t => t.closest('div.live')).filter(t => { const b = box(t), s = t.closest('div.live').getBoundingClientRect();
  return b.left < s.left - 1 || b.right > s.right + 1 || b.top < s.top - 1 || b.bottom > s.bottom + 1;
}).map(t => t.textContent);
const overlaps = [];
for (const chart of document.querySelectorAll('div.live')) {
  const own = text.filter(t => chart.contains(t));
  own.forEach((a, i) => own.slice(i + 1).forEach(b => { const p = box(a), q = box(b);
    if (p.left < q.right && q.left < p.right && p.top + 2 < q.bottom && q.top + 2 < p.bottom)
      overlaps.push(a.textContent + '|' + b.textContent); }));
}
const luminance = c => c.match(/\d+/g).slice(0, 3).reduce((sum, v, i) => {
  v /= 255; v = v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  return sum + v * [0.2126, 0.7152, 0.0722][i]; }, 0);
const card = luminance(getComputedStyle(document.querySelector('div.table')).backgroundColor);
const contrast = c => { const l = luminance(c);
  return (Math.max(l, card) + 0.05) / (Math.min(l, card) + 0.05); };
const tell = verdict => parent === window ? document.body.append(Object.assign(
  document.createElement('pre'), {id: 'verdict', textContent: verdict})) : parent.postMessage(verdict, '*');
tell(JSON.stringify({live: document.querySelectorAll('div.live').length, moved, texts: text.length, wide, outside,
    overlaps, dark: card < 0.5, width: innerWidth, lowest: Math.min(...text.map(t => box(t).height)),
    cut: [...document.querySelectorAll('div.table')].filter(d => d.scrollWidth > d.clientWidth).length,
    compared: [...document.querySelectorAll('#comparison')].every(t => t.offsetWidth <= t.parentElement.clientWidth),
    tiles: getComputedStyle(document.querySelector('ul.tiles')).gridTemplateColumns.split(' ').length, resources: performance.getEntriesByType('resource').length,
    contrast: Math.min(...text.map(t => contrast(getComputedStyle(t).color)))}));
</script></body></html>
HTML
}
# show SIZE: makes probed.html the page that a window of this size has.
show() {
    # The windows of Chromium are 500 wide or more: a phone is a frame.
    if ((${1%,*} < 500)); then
        printf '<!DOCTYPE html><body style="margin:0"><script>onmessage = event => document.body.append(
            Object.assign(document.createElement("pre"), {id: "verdict", textContent: event.data}));</script>
            <iframe src="probed.html" style="border:0" width="%s" height="%s"></iframe>' \
            "${1%,*}" "${1#*,}" >"$folder/page.html"
    else
        cp "$folder/probed.html" "$folder/page.html"
    fi
}
# check PAGE KIND [SIZE ...]
check() {
    local page=$1 kind=$2
    shift 2
    probe "$page" "$kind" >"$folder/probed.html"
    for scheme in 0 1; do # of Chromium's preferredColorScheme: dark, light
        for size in "$@"; do
            show "$size"
            visit "$folder/dom" --window-size="$size" --blink-settings=preferredColorScheme=$scheme --dump-dom
            python3 - "$folder/dom" "$scheme" "$size" "$kind" <<'PYTHON'
import html, json, re, sys
dom = open(sys.argv[1], encoding="utf-8").read()
verdict = json.loads(html.unescape(re.search(r'<pre id="verdict">(.*?)</pre>', dom, re.S).group(1)))
print(sys.argv[3], verdict)
live = 7 if sys.argv[4] == "charts" else 0
assert verdict["live"] == live and verdict["texts"] > 60
moved = verdict["moved"]
if live:
    # The crosshair reads all charts of time together, and the one of percentiles by itself.
    assert sum(legend.startswith("at ") for legend in moved["legends"]) == 6, moved
    assert sum(value.startswith(": ") for value in moved["values"]) == 6 == moved["crosshairs"], moved
    assert len(moved["zoomed"]) == 6 and all(0.15 < part < 0.3 for part in moved["zoomed"]), moved
    assert all(part > 0.99 for part in moved["whole"]), moved
    assert moved["ownAxes"] >= 5, moved
    assert moved["finger"][0].startswith("at ") and not moved["finger"][1], moved
assert verdict["width"] == int(sys.argv[3].split(",")[0]), verdict["width"]
assert not verdict["wide"], "the page is wider than the screen"
assert verdict["lowest"] >= 10, "letters too small to read"
assert verdict["tiles"] > 1 and verdict["cut"] == 0, "a table is cut"
assert verdict["compared"], "the two runs are not seen beside each other"
assert not verdict["outside"] and not verdict["overlaps"]
assert verdict["resources"] == 0, "the page loads something"
assert verdict["dark"] == (sys.argv[2] == "0")
assert verdict["contrast"] >= 4.5, "hard to read"
PYTHON
        done
    done
}
widths=(1400,900 768,900 390,800)
if grep -q '<script id="dygraphs">' "$folder/report.html"; then
    check report.html charts "${widths[@]}"
    check compared.html charts 768,900 390,800
    check report.html tables 768,900 390,800
else
    check report.html tables "${widths[@]}"
fi

# The page of a sweep: every run is a point of both charts, and nothing is cut on a phone.
if grep -q '<script id="dygraphs">' "$folder/report.html"; then
    "$1" --sweep max-seqs=8,64 --sweep scheduler=prefill-first,chunked --report "$folder/sweep.html" >/dev/null
    sed '/<\/body>/,$d' "$folder/sweep.html" >"$folder/probed.html"
    cat >>"$folder/probed.html" <<'HTML'
<script>
const verdict = JSON.stringify({
  runs: document.querySelectorAll('#trials tr').length - 1, rows: serveGraphs.map(g => g.graph.numRows()),
  cut: [...document.querySelectorAll('div.table')].filter(d => d.scrollWidth > d.clientWidth).length,
  wide: document.documentElement.scrollWidth > innerWidth, width: innerWidth});
parent === window ? document.body.append(Object.assign(document.createElement('pre'), {id: 'verdict', textContent: verdict}))
    : parent.postMessage(verdict, '*');
</script></body></html>
HTML
    for size in "${widths[@]}"; do
        show "$size"
        visit "$folder/dom" --window-size="$size" --dump-dom
        grep -q "id=\"verdict\">{\"runs\":4,\"rows\":\[4,4\],\"cut\":0,\"wide\":false,\"width\":${size%,*}}" "$folder/dom" || {
            echo "FAILED: the page of a sweep at $size: $(grep -o 'id="verdict">[^<]*' "$folder/dom")" >&2
            exit 1
        }
    done
fi

cp "$folder/report.html" "$folder/page.html"
visit /dev/null --window-size=1320,1480 --blink-settings=preferredColorScheme=1 \
    --screenshot="$folder/report.png"
# A blank page would be a few thousand bytes.
(($(stat -c %s "$folder/report.png") > 50000))
if (($# > 1)); then
    cp "$folder/report.png" "$2"
fi
echo "report in $("$browser" --version 2>/dev/null </dev/null): good"
