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

"$1" --max-seqs 32 --block-size 16 --blocks 900 --report "$folder/report.html" >/dev/null

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

# Where a copy of the page ends, a script says what the browser has made of it.
{
    sed '/<\/body>/,$d' "$folder/report.html"
    cat <<'HTML'
<script>
const box = e => e.getBoundingClientRect();
const text = [...document.querySelectorAll('svg text')];
const wide = document.documentElement.scrollWidth > innerWidth;
const outside = text.filter(t => { const b = box(t), s = box(t.ownerSVGElement);
  return b.left < s.left - 1 || b.right > s.right + 1 || b.top < s.top - 1 || b.bottom > s.bottom + 1;
}).map(t => t.textContent);
const overlaps = [];
for (const svg of document.querySelectorAll('svg')) {
  const own = [...svg.querySelectorAll('text')];
  own.forEach((a, i) => own.slice(i + 1).forEach(b => { const p = box(a), q = box(b);
    if (p.left < q.right && q.left < p.right && p.top + 2 < q.bottom && q.top + 2 < p.bottom)
      overlaps.push(a.textContent + '|' + b.textContent); }));
}
const luminance = c => c.match(/\d+/g).slice(0, 3).reduce((sum, v, i) => {
  v /= 255; v = v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  return sum + v * [0.2126, 0.7152, 0.0722][i]; }, 0);
const card = luminance(getComputedStyle(document.querySelector('figure')).backgroundColor);
const contrast = c => { const l = luminance(c);
  return (Math.max(l, card) + 0.05) / (Math.min(l, card) + 0.05); };
document.body.append(Object.assign(document.createElement('pre'), {id: 'verdict', textContent:
  JSON.stringify({svgs: document.querySelectorAll('svg').length, texts: text.length, wide, outside,
    overlaps, dark: card < 0.5, resources: performance.getEntriesByType('resource').length,
    contrast: Math.min(...text.map(t => contrast(getComputedStyle(t).fill))),
    lines: Math.min(...[...document.querySelectorAll('path')].map(
      p => contrast(getComputedStyle(p).stroke)))})}));
</script></body></html>
HTML
} >"$folder/page.html"
for scheme in 0 1; do # of Chromium's preferredColorScheme: dark, light
    for size in 1400,900 800,900 500,900; do
        visit "$folder/dom" --window-size="$size" --blink-settings=preferredColorScheme=$scheme --dump-dom
        python3 - "$folder/dom" "$scheme" "$size" <<'PYTHON'
import html, json, re, sys
dom = open(sys.argv[1], encoding="utf-8").read()
verdict = json.loads(html.unescape(re.search(r'<pre id="verdict">(.*?)</pre>', dom, re.S).group(1)))
print(sys.argv[3], verdict)
assert verdict["svgs"] == 8 and verdict["texts"] > 60
assert not verdict["wide"], "the page is wider than the screen"
assert not verdict["outside"] and not verdict["overlaps"]
assert verdict["resources"] == 0, "the page loads something"
assert verdict["dark"] == (sys.argv[2] == "0")
assert verdict["contrast"] >= 4.5 and verdict["lines"] >= 3, "hard to read"
PYTHON
    done
done

cp "$folder/report.html" "$folder/page.html"
visit /dev/null --window-size=1320,1480 --blink-settings=preferredColorScheme=1 \
    --screenshot="$folder/report.png"
# A blank page would be a few thousand bytes.
(($(stat -c %s "$folder/report.png") > 50000))
if (($# > 1)); then
    cp "$folder/report.png" "$2"
fi
echo "report in $("$browser" --version 2>/dev/null </dev/null): good"
