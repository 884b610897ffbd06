// A chart on the page, drawn from an ECharts option. Tab reaches it; arrow keys, Home and End move from point to point
// and explain it; Enter selects it; Escape goes back.
import {CustomChart, LineChart, ScatterChart} from "echarts/charts";
import {AriaComponent, GridComponent, MarkLineComponent, TooltipComponent} from "echarts/components";
import {init, use} from "echarts/core";
import {LabelLayout} from "echarts/features";
import {SVGRenderer} from "echarts/renderers";

import {element} from "./controls.js";

export const parts = [
  ScatterChart, LineChart, CustomChart, AriaComponent, GridComponent, LabelLayout, MarkLineComponent, TooltipComponent,
  SVGRenderer
];
use(parts);

export class Chart {
  /// `hover` gets a key or null, `choose` a key, `preview` the key that the keyboard is at, or null when it leaves.
  /// `table`: the id of the table with the same points.
  constructor(title, height, {hover, choose, preview, table}) {
    this.box = element("div", {
      class: "chart",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "chart",
      "aria-details": table,
      style: `height:${height}px`,
      "aria-label":
          `${title}. Arrow keys move from point to point, Enter selects. A table with the same points follows.`,
      onkeydown: (event) => this.walk(event),
      onblur: () => this.leave()
    });
    this.figure = element("figure", {class: "live-figure"}, element("figcaption", {}, title), this.box);
    Object.assign(this, {hover, choose, preview});
    this.places = new Map();
    this.at = -1;
  }

  draw(option) {
    if (!this.box.clientWidth) return;  // folded
    if (!this.chart) this.start();
    this.places.clear();
    option.series.forEach((series, seriesIndex) => series.data.forEach((item, dataIndex) => {
      if (item.key) this.places.set(item.key, {seriesIndex, dataIndex});
    }));
    this.at = -1;
    this.chart.setOption(option, {notMerge: true});
  }

  /// Replaces the series with the same id.
  add(series) {
    if (this.chart) this.chart.setOption({series: [series]});
  }

  start() {
    this.chart = init(this.box, null, {renderer: "svg"});
    this.chart.on("mouseover", ({data}) => data?.key && this.hover(data.key));
    this.chart.on("mouseout", () => this.hover(null));
    this.chart.on("click", ({data}) => data?.key && this.choose(data.key));
    new ResizeObserver(() => this.chart.resize()).observe(this.box);
  }

  /// Lets the reader zoom and move the chart. `change` gets the factor and the place in data, or the distance in data,
  /// as factors on both logarithmic axes; null shows everything.
  zoomable(change) {
    const at = (event) => this.chart.convertFromPixel({gridIndex: 0}, [event.offsetX, event.offsetY]);
    let from = null;
    this.box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      change({zoom: event.deltaY > 0 ? 1.25 : 0.8, at: at(event)});
    }, {passive: false});
    this.box.addEventListener("pointerdown", (event) => {
      from = at(event);
    });
    this.box.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons) return;
      const to = at(event);
      change({move: [from[0] / to[0], from[1] / to[1]]});
    });
    this.box.addEventListener("pointerup", () => {
      from = null;
    });
    this.box.addEventListener("dblclick", () => change(null));
  }

  light(key) {
    if (!this.chart) return;
    this.chart.dispatchAction({type: "downplay"});
    const place = this.places.get(key);
    if (place) this.chart.dispatchAction({type: "highlight", ...place});
  }

  /// Removes the highlight that the keyboard set.
  leave() {
    if (this.at < 0) return;
    this.at = -1;
    this.hover(null);
    this.preview(null);
    this.chart.dispatchAction({type: "hideTip"});
  }

  walk(event) {
    const keys = [...this.places.keys()];
    if (event.key === "Escape") return this.leave();
    const last = keys.length - 1;
    const to = {
      ArrowRight: this.at + 1,
      ArrowDown: this.at + 1,
      ArrowLeft: Math.max(this.at, 0) - 1,
      ArrowUp: Math.max(this.at, 0) - 1,
      Home: 0,
      End: last,
      Enter: Math.max(this.at, 0)
    }[event.key];
    if (!keys.length || to === undefined) return;
    event.preventDefault();
    const at = (to + keys.length) % keys.length;
    const key = keys[at];
    if (event.key === "Enter") this.choose(key);
    this.at = at;
    this.hover(key);
    this.preview(key);
    this.chart.dispatchAction({type: "showTip", ...this.places.get(key)});
  }

  /// The chart as a file.
  svg() { return this.chart.renderToSVGString(); }
}
