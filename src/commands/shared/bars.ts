/** Tables for people whose rows end in a bar. */
import type { Context } from "../../context.ts";
import type { OutputOptions } from "../../terminal/format.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { measureWidth } from "../../terminal/text-width.ts";

/** A screen narrower than this beside the numbers has no room for bars. */
const shortestRoom = 8;

interface BarView<T> extends View<T> {
  /** What a bar's length stands for. */
  measure(item: T): number;
}

/** As a list, with bars that are fitted to the screen; without them where nothing is drawn. */
export async function presentBars<T>(
  { terminal }: Context,
  output: OutputOptions,
  items: readonly T[],
  { measure, ...view }: BarView<T>,
): Promise<void> {
  const widths = view.columns.map((column) =>
    Math.max(
      measureWidth(column.title ?? column.name),
      ...items.map((item) => {
        const cell = column.value(item);
        return measureWidth(typeof cell === "number" ? cell.toLocaleString("en-US") : String(cell ?? ""));
      }),
    ),
  );
  const room = terminal.columns - widths.reduce((sum, width) => sum + width + 2, 0);
  const most = Math.max(0, ...items.map(measure));
  const isDrawn = most > 0 && room >= shortestRoom && !terminal.isAccessible;
  const drawn = {
    name: "bar",
    title: " ",
    value: (item: T) => "█".repeat(Math.ceil((measure(item) / most) * room)),
  };
  const columns = isDrawn ? [...view.columns, drawn] : view.columns;
  await presentList(terminal, output, [...items], { ...view, columns });
}
