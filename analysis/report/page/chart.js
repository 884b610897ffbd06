// A chart on the page, drawn from an ECharts option. Arrow keys move from point to point.
import { ScatterChart, LineChart, CustomChart } from "echarts/charts";
import { AriaComponent, GridComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";
import { element } from "./controls.js";

export const parts = [ScatterChart, LineChart, CustomChart, AriaComponent, GridComponent, LabelLayout, MarkLineComponent, TooltipComponent, SVGRenderer];
use(parts);

export class Chart {
  /// `hover` gets a key or null, `choose` a key.
  constructor(title, height, hover, choose) {
    this.box = element("div", { class: "chart", tabindex: 0, role: "application", style: `height:${height}px`,
      "aria-label": `${title}. Arrow keys move from point to point and explain it.`, onkeydown: (event) => this.walk(event), onblur: () => this.leave() });
    this.figure = element("figure", { class: "live-figure" }, element("figcaption", {}, title), this.box);
    this.hover = hover;
    this.choose = choose;
    this.places = new Map();
    this.at = -1;
  }

  draw(option) {
    if (!this.box.clientWidth) return;  // folded
    if (!this.chart) this.start();
    this.places.clear();
    option.series.forEach((series, seriesIndex) => series.data.forEach((item, dataIndex) => {
      if (item.key) this.places.set(item.key, { seriesIndex, dataIndex });
    }));
    this.at = -1;
    this.chart.setOption(option, { notMerge: true });
  }

  /// Replaces the series with the same id.
  add(series) {
    if (this.chart) this.chart.setOption({ series: [series] });
  }

  start() {
    this.chart = init(this.box, null, { renderer: "svg" });
    this.chart.on("mouseover", ({ data }) => data?.key && this.hover(data.key));
    this.chart.on("mouseout", () => this.hover(null));
    this.chart.on("click", ({ data }) => data?.key && this.choose(data.key));
    new ResizeObserver(() => this.chart.resize()).observe(this.box);
  }

  /// Lets the reader zoom and move the chart. `change` gets the factor and the place in data, or the distance in data,
  /// as factors on both logarithmic axes; null shows everything.
  zoomable(change) {
    const at = (event) => this.chart.convertFromPixel({ gridIndex: 0 }, [event.offsetX, event.offsetY]);
    let from = null;
    this.box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      change({ zoom: event.deltaY > 0 ? 1.25 : 0.8, at: at(event) });
    }, { passive: false });
    this.box.addEventListener("pointerdown", (event) => { from = at(event); });
    this.box.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons) return;
      const to = at(event);
      change({ move: [from[0] / to[0], from[1] / to[1]] });
    });
    this.box.addEventListener("pointerup", () => { from = null; });
    this.box.addEventListener("dblclick", () => change(null));
  }

  light(key) {
    if (!this.chart) return;
    this.chart.dispatchAction({ type: "downplay" });
    const place = this.places.get(key);
    if (place) this.chart.dispatchAction({ type: "highlight", ...place });
  }

  /// Removes the highlight that the keyboard set.
  leave() {
    if (this.at < 0) return;
    this.at = -1;
    this.hover(null);
    this.chart.dispatchAction({ type: "hideTip" });
  }

  walk(event) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const keys = [...this.places.keys()];
    if (!keys.length || (!by && event.key !== "Enter")) return;
    event.preventDefault();
    if (by) this.at = (this.at + by + keys.length) % keys.length;
    const key = keys[Math.max(0, this.at)];
    this.hover(key);
    this.chart.dispatchAction({ type: "showTip", ...this.places.get(key) });
    this.choose(key);
  }
}
