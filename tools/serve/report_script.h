// SPDX-License-Identifier: Apache-2.0
// The program of the report: it shows the charts by dygraphs.

#pragma once

namespace serve {

/// Reads the script element "charts". Pages without the library do not have it.
inline constexpr const char* kReportScript = R"js(
'use strict';
(() => {
  const charts = JSON.parse(document.getElementById('charts').textContent);
  const graphs = [];
  const readable = value => {
    const size = Math.abs(value);
    if (size < 1e-12) return '0';
    if (size < 100 && Math.abs(value - Math.round(value)) > size * 1e-6) return String(+value.toPrecision(3));
    return Math.round(value).toLocaleString('en-US');
  };
  const colourOf = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  // A value holds from the begin of its span to the end; between spans it is 0.
  const rowsOf = chart => {
    const rows = [];
    const from = chart.spans.map(span => span[0]), to = chart.spans.map(span => span[1]);
    const zeros = chart.series.map(() => 0);
    chart.spans.forEach((span, i) => {
      if (i > 0 && from[i] > to[i - 1]) rows.push([to[i - 1], ...zeros]);
      rows.push([from[i], ...chart.series.map(series => series.values[i])]);
    });
    if (to.length) {
      const last = rows[rows.length - 1].slice(1);
      rows.push([to[to.length - 1], ...(chart.fromZero ? zeros : last)]);
    }
    return rows;
  };
  const coloursOf = chart => chart.series.map(series => colourOf(series.colour));
  const drawLimit = chart => (context, area, graph) => {
    if (!chart.limit) return;
    const y = graph.toDomYCoord(chart.limit);
    context.save();
    context.strokeStyle = colourOf('axis');
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(area.x, y);
    context.lineTo(area.x + area.w, y);
    context.stroke();
    context.restore();
  };
  const crosshair = () => {
    const plugin = new Dygraph.Plugins.Crosshair({direction: 'vertical', strokeStyle: 'rgba(128,128,128,0.9)'});
    const select = plugin.select;
    plugin.select = function (event) { if (event.dygraph.selPoints_.length) select.call(this, event); };
    return plugin;
  };
  // Writes the values at the crosshair into the legend.
  class Readout {
    constructor(chart, figure) {
      this.chart = chart;
      this.place = figure.querySelector('p.legend output');
      this.marks = [...figure.querySelectorAll('p.legend span.series')];
    }
    activate() { return {select: this.select, deselect: this.deselect}; }
    select(event) {
      const points = event.dygraph.selPoints_;
      const note = this.chart.notes ? this.chart.notes[event.dygraph.lastRow_] + ', ' : '';
      this.place.textContent = points.length ? `${note}at ${readable(event.dygraph.lastx_)} ${this.chart.xUnit}` : '';
      this.marks.forEach((mark, i) => {
        const point = points.find(p => p.name === this.chart.series[i].name);
        mark.lastElementChild.textContent = point ? ': ' + readable(point.yval) : '';
      });
    }
    deselect() {
      this.place.textContent = '';
      this.marks.forEach(mark => { mark.lastElementChild.textContent = ''; });
    }
    destroy() {}
  }
  // One finger reads values and leaves the scrolling to the page; two fingers zoom.
  const touches = Dygraph.defaultInteractionModel;
  const point = (event, graph) => {
    const left = graph.canvas_.getBoundingClientRect().left;
    graph.setSelection(graph.findClosestRow(event.touches[0].clientX - left), undefined, undefined, true);
  };
  const model = Object.assign({}, touches, {
    touchstart: (event, graph, context) => {
      if (event.touches.length > 1) touches.touchstart(event, graph, context);
      else point(event, graph);
    },
    touchmove: (event, graph, context) => {
      if (event.touches.length > 1) touches.touchmove(event, graph, context);
      else point(event, graph);
    },
    touchend: (event, graph, context) => {
      if (context.initialTouches && context.initialTouches.length > 1) touches.touchend(event, graph, context);
    }
  });
  for (const chart of charts) {
    const figure = document.getElementById(chart.id);
    const place = document.createElement('div');
    place.className = 'live';
    figure.append(place);
    const names = chart.series.map(series => series.name);
    const series = {};
    chart.series.forEach(s => { series[s.name] = {fillGraph: s.filled}; });
    // Points instead of spans: the first series is a line through its own, the others are points only.
    if (chart.points) names.slice(1).forEach(name => { series[name].strokeWidth = 0; });
    const rows = chart.points || rowsOf(chart);
    if (!rows.length) { place.remove(); continue; }
    const graph = new Dygraph(place, rows, {
      labels: ['x', ...names], series, colors: coloursOf(chart), stepPlot: !chart.points, fillAlpha: 0.14,
      drawPoints: Boolean(chart.points), pointSize: 4, connectSeparatedPoints: true, xRangePad: chart.points ? 10 : 0,
      strokeWidth: 1.5, includeZero: true, legend: 'never', labelsUTC: true,
      xlabel: chart.xAxis, ylabel: chart.yAxis, xLabelHeight: 18, yLabelWidth: 18,
      gridLineColor: colourOf('grid'), axisLineColor: colourOf('axis'), axisLabelFontSize: 12, axisTickSize: 6,
      axes: {y: {axisLabelWidth: 56, axisLabelFormatter: readable},
             x: {axisLabelFormatter: readable, drawGrid: false, pixelsPerLabel: 70}},
      interactionModel: model, highlightCircleSize: 3, animatedZooms: false,
      underlayCallback: drawLimit(chart),
      valueRange: chart.limit ? [0, 1.05 * Math.max(chart.limit, ...chart.series.flatMap(s => s.values))] : null,
      plugins: [crosshair(), new Readout(chart, figure)]
    });
    graphs.push({graph, chart});
  }
  const timed = graphs.filter(g => g.chart.timed).map(g => g.graph);
  if (timed.length > 1) Dygraph.synchronize(timed, {selection: true, zoom: true, range: false});
  const button = document.getElementById('whole');
  button.hidden = false;
  button.addEventListener('click', () => graphs.forEach(g => { if (g.graph.isZoomed()) g.graph.resetZoom(); }));
  // The colours are those of the style, light or dark.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => graphs.forEach(g =>
    g.graph.updateOptions({colors: coloursOf(g.chart), gridLineColor: colourOf('grid'),
      axisLineColor: colourOf('axis')})));
  window.serveGraphs = graphs;
})();
)js";

}  // namespace serve
